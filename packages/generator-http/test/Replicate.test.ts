import { assert, it } from "@effect/vitest"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import { replicate } from "@kinora/testkit/upstreams/ReplicateServer"
import { responds, upstreamText } from "@kinora/testkit/upstreams/ScriptedServer"
import { Effect, Stream } from "effect"
import driver from "../src/Replicate.ts"
import { makeProblems } from "./ImageModel.ts"
import * as Contract from "./ProtocolContract.ts"

const options = {
  model: "owner/flux",
  input: { output_format: "png" },
  bindings: [{ to: "aspect_ratio", from: "aspect_ratio" }, { to: "seed", from: "seed" }, {
    to: "images",
    from: "images"
  }]
}

const request = Contract.imageRequests({ name: "flux", options })

const start = Effect.map(replicate, (server) => ({
  server,
  replicate: server,
  files: server.files,
  options: { base_url: `${server.origin}/v1`, api_key: Contract.apiKey, private: true },
  jobs: () => server.predictions.size,
  finish: () => {
    server.content.file = { mime: "image/png", bytes: Contract.resultBytes }
    server.change({ status: "succeeded", output: [`${server.files.origin}/out-0.png`] })
  },
  fail: () => server.change({ status: "failed", error: upstreamText }),
  confuse: () => server.change({ status: "booting" }),
  restart: () => server.predictions.clear()
}))

Contract.suite({
  name: "Replicate",
  driver,
  resubmit: "unsafe",
  lines: { submit: "POST /v1/models/owner/flux/predictions", poll: "GET /v1/predictions/", result: "GET /out" },
  mime: "image/png",
  whenLost: "Permanent",
  imageMode: "image_to_image",
  request,
  start
})

const starting = Effect.fnUntraced(function*(more: Readonly<Record<string, unknown>> = {}) {
  const running = yield* start
  return { ...running, generator: yield* Contract.generatorOf(driver, { ...running.options, ...more }) }
})

it.effect("sends the prompt, constant inputs and bound parameters to the model", () =>
  Effect.gen(function*() {
    const { generator, replicate } = yield* starting()
    yield* generator.submit(request("job-1"))
    const input = { prompt: "a lake at night", output_format: "png", aspect_ratio: "16:9", seed: 7 }
    assert.deepStrictEqual(replicate.submitted, [{ path: "/v1/models/owner/flux/predictions", body: { input } }])
    assert.strictEqual(replicate.requests[0]?.headers.authorization, `Bearer ${Contract.apiKey}`)
    assert.isUndefined(replicate.requests[0]?.headers["cancel-after"])
  }))

it.effect("sends the version of a model and the time after which the job is cancelled", () =>
  Effect.gen(function*() {
    const { generator, replicate } = yield* starting()
    const version = "0".repeat(64)
    const model = { name: "any", options: { model: `owner/any:${version}`, cancel_after: "10 minutes" } }
    yield* generator.submit(request("job-1", { model, prompt: "a" }))
    assert.deepStrictEqual(replicate.submitted, [{
      path: "/v1/predictions",
      body: { version, input: { prompt: "a" } }
    }])
    assert.strictEqual(replicate.requests[0]?.headers["cancel-after"], "600s")
  }))

const image = (byte: number): GenerationRequest["images"][number] => ({
  mime: "image/webp",
  width: 1,
  height: 1,
  bytes: 1,
  body: Stream.make(Uint8Array.of(byte))
})

it.effect("uploads input images and passes their URLs", () =>
  Effect.gen(function*() {
    const { generator, replicate } = yield* starting()
    yield* generator.submit(request("job-1", { mode: "image_to_image", images: [image(1), image(2)] }))
    const images = replicate.submitted.map(({ body }) =>
      (body as { readonly input: { readonly images: unknown } }).input.images
    )
    assert.deepStrictEqual(images, [["https://api.replicate.com/v1/files/1", "https://api.replicate.com/v1/files/2"]])
    assert.deepStrictEqual(replicate.uploads.map(({ name, type }) => [name, type]), [
      ["image.webp", "image/webp"],
      ["image.webp", "image/webp"]
    ])
  }))

it.effect("starts nothing if an upload fails, so that submit can be repeated", () =>
  Effect.gen(function*() {
    const { generator, replicate } = yield* starting()
    replicate.next("POST /v1/files", responds(500))
    const submit = generator.submit(request("job-1", { mode: "image_to_image", images: [image(1)] }))
    assert.strictEqual((yield* Contract.reasonOf(submit))._tag, "Transient")
    assert.deepStrictEqual(replicate.submitted, [])
  }))

it.effect("sends the token to no other origin, and downloads from public addresses unless it is private", () =>
  Effect.gen(function*() {
    const { finish, generator, options: driverOptions, replicate } = yield* starting()
    const operation = yield* generator.submit(request("job-1"))
    finish()
    yield* Effect.flatMap(generator.collect(operation), Contract.read)
    assert.isUndefined(replicate.files.requests[0]?.headers.authorization)
    const guarded = yield* Contract.generatorOf(driver, { ...driverOptions, private: false })
    assert.strictEqual((yield* Contract.reasonOf(guarded.collect(operation)))._tag, "Permanent")
    assert.strictEqual(replicate.files.requests.length, 1)
  }))

it.effect("finds the result in every shape of output", () =>
  Effect.gen(function*() {
    const { finish, generator, replicate } = yield* starting()
    const operation = yield* generator.submit(request("job-1"))
    finish()
    const { origin } = replicate.files
    const outputs = [
      `${origin}/a.png`,
      [`${origin}/a.png`],
      { image: `${origin}/a.png` },
      { log: "done", video: `${origin}/b.mp4`, images: [`${origin}/a.png?x=1`] }
    ]
    for (const output of outputs) {
      replicate.change({ output })
      yield* Effect.flatMap(generator.collect(operation), Contract.read)
      assert.match(replicate.files.requests.at(-1)?.path ?? "", /^\/a\.png/)
    }
  }))

it.effect("fails if the result was removed or has no URL", () =>
  Effect.gen(function*() {
    const { generator, replicate } = yield* starting()
    const operation = yield* generator.submit(request("job-1"))
    for (const changes of [{ data_removed: true, output: null }, { data_removed: false, output: ["text"] }]) {
      replicate.change({ status: "succeeded", ...changes })
      assert.strictEqual((yield* Contract.reasonOf(generator.collect(operation)))._tag, "Permanent")
    }
  }))

it.effect("reports rejected content and jobs that Replicate ended", () =>
  Effect.gen(function*() {
    const { generator, replicate } = yield* starting()
    const operation = yield* generator.submit(request("job-1"))
    const outcomes = [
      ["failed", "NSFW content detected", "content_rejected"],
      ["failed", "The input was flagged as sensitive (E005)", "content_rejected"],
      ["failed", upstreamText, "upstream_error"],
      ["canceled", "", "upstream_error"],
      ["aborted", "", "upstream_error"]
    ] as const
    for (const [status, error, code] of outcomes) {
      replicate.change({ status, error })
      const polled = yield* generator.poll(operation)
      assert.strictEqual(polled._tag === "Failed" ? polled.error.code : polled._tag, code)
    }
  }))

const callbackUrl = "https://media.example.com/internal/callbacks/gen_1?exp=1&sig=s%26"

it.effect("passes the URL of callbacks on, for the end of the job only", () =>
  Effect.gen(function*() {
    const { generator, replicate } = yield* starting()
    assert.isTrue(generator.callsBack)
    const version = { model: `owner/flux:${"0".repeat(64)}` }
    yield* generator.submit(request("job-1", { callbackUrl }))
    yield* generator.submit(
      request("job-2", { callbackUrl, model: { name: "flux", options: { ...options, ...version } } })
    )
    yield* generator.submit(request("job-3"))
    const called = replicate.submitted.map(({ body }) => {
      const { webhook, webhook_events_filter } = body as Record<string, unknown>
      return [webhook, webhook_events_filter]
    })
    const wanted = [callbackUrl, ["completed"]]
    assert.deepStrictEqual(called, [wanted, wanted, [undefined, undefined]])
  }))

it.effect("passes no URL on without `callbacks`", () =>
  Effect.gen(function*() {
    const { generator, replicate } = yield* starting({ callbacks: false })
    assert.isFalse(generator.callsBack)
    yield* generator.submit(request("job-1", { callbackUrl }))
    assert.notProperty(replicate.submitted[0]?.body, "webhook")
  }))

const problems = makeProblems(driver, options, 4)

it("returns every problem of a model", () => {
  assert.deepStrictEqual(problems(), [])
  assert.deepStrictEqual(problems({ model: "flux", cancel_after: "1 second" }), [
    "driver.options.model must be owner/name or owner/name:version",
    "driver.options.cancel_after must be at least 5 seconds"
  ])
  assert.deepStrictEqual(problems({ bindings: [{ to: "image", from: "image_1" }] }), [
    "params_schema.0.name must be the source of a binding of the driver's options",
    "max_reference_images must be at most 1, the number of input images that have a binding"
  ])
})
