import { assert, it } from "@effect/vitest"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import { fal } from "@kinora/testkit/upstreams/FalServer"
import { drops, responds, upstreamText } from "@kinora/testkit/upstreams/ScriptedServer"
import { Effect, Stream } from "effect"
import driver from "../src/Fal.ts"
import { makeProblems } from "./ImageModel.ts"
import * as Contract from "./ProtocolContract.ts"

const options = {
  model: "fal-ai/flux/dev",
  input: { num_images: 1 },
  bindings: [
    { to: "image_size", from: "aspect_ratio", values: { "1:1": "square_hd", "16:9": "landscape_16_9" } },
    { to: "image_url", from: "image_1" }
  ]
}

const request = (id: string, rest: Partial<GenerationRequest> = {}): GenerationRequest => ({
  id,
  model: { name: "flux", options },
  kind: "image",
  mode: "text_to_image",
  prompt: "a lake at night",
  params: { aspect_ratio: "16:9" },
  images: [],
  format: "png",
  ...rest
})

const start = Effect.map(fal, (server) => ({
  server,
  fal: server,
  files: server.files,
  options: { base_url: server.origin, api_key: Contract.apiKey, private: true },
  jobs: () => server.queue.size,
  finish: () => {
    server.content.file = { mime: "image/png", bytes: Contract.resultBytes }
    server.result.body = { images: [{ url: `${server.files.origin}/out.png`, content_type: "image/png" }], seed: 1 }
    server.change({ status: "COMPLETED" })
  },
  fail: () => {
    Object.assign(server.result, { status: 500, body: { detail: upstreamText } })
    server.change({ status: "COMPLETED" })
  },
  confuse: () => server.change({ status: "IN_RETRY" }),
  restart: () => server.queue.clear()
}))

Contract.suite({
  name: "Fal",
  driver,
  resubmit: "unsafe",
  lines: { submit: "POST /fal-ai/flux/dev", poll: /^GET \S+\/status$/, result: "GET /out.png" },
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

const failureOf = (status: { readonly _tag: string; readonly error?: { readonly code: string } }) =>
  status.error?.code ?? status._tag

it.effect("sends the prompt, constant inputs and bound parameters to the model", () =>
  Effect.gen(function*() {
    const { fal, generator } = yield* starting()
    yield* generator.submit(request("job-1"))
    assert.deepStrictEqual(fal.submitted, [{
      path: "/fal-ai/flux/dev",
      body: { prompt: "a lake at night", num_images: 1, image_size: "landscape_16_9" }
    }])
    assert.strictEqual(fal.requests[0]?.headers.authorization, `Key ${Contract.apiKey}`)
  }))

it.effect("sends input images as data URLs", () =>
  Effect.gen(function*() {
    const { fal, generator } = yield* starting()
    const body = Stream.make(Uint8Array.of(1, 2, 3))
    const images = [{ mime: "image/png" as const, width: 1, height: 1, bytes: 3, body }]
    yield* generator.submit(request("job-1", { mode: "image_to_image", images }))
    assert.deepInclude(fal.submitted[0]?.body, { image_url: "data:image/png;base64,AQID" })
  }))

it.effect("calls no URL of another origin", () =>
  Effect.gen(function*() {
    const { fal, generator } = yield* starting()
    const elsewhere = `${fal.files.origin}/fal-ai/flux/requests/r1`
    const urls = { status_url: `${elsewhere}/status`, response_url: elsewhere, cancel_url: `${elsewhere}/cancel` }
    fal.next("POST", responds(200, {}, urls))
    assert.strictEqual((yield* Contract.reasonOf(generator.submit(request("job-1"))))._tag, "Permanent")
    const operation = {
      driver: "fal",
      kind: "image",
      status: urls.status_url,
      response: urls.response_url,
      cancel: urls.cancel_url
    }
    assert.strictEqual((yield* Contract.reasonOf(generator.poll(operation)))._tag, "Permanent")
    assert.deepStrictEqual(fal.files.requests, [])
  }))

it.effect("sends the key to no other origin", () =>
  Effect.gen(function*() {
    const { fal, finish, generator } = yield* starting()
    const operation = yield* generator.submit(request("job-1"))
    finish()
    yield* Effect.flatMap(generator.collect(operation), Contract.read)
    assert.isUndefined(fal.files.requests[0]?.headers.authorization)
  }))

it.effect("reports why a completed request failed", () =>
  Effect.gen(function*() {
    const { fal, generator } = yield* starting()
    const operation = yield* generator.submit(request("job-1"))
    fal.change({ status: "COMPLETED" })
    const outcomes = [
      [422, { detail: [{ type: "content_policy_violation", msg: upstreamText }] }, "content_rejected"],
      [422, { detail: [{ type: "missing", msg: upstreamText }] }, "invalid_input"],
      [500, { detail: upstreamText }, "upstream_error"]
    ] as const
    for (const [status, body, code] of outcomes) {
      Object.assign(fal.result, { status, body })
      const polled = yield* generator.poll(operation)
      assert.strictEqual(failureOf(polled), code)
      assert.notInclude(JSON.stringify(polled), upstreamText)
    }
  }))

it.effect("reports the error of the status", () =>
  Effect.gen(function*() {
    const { fal, generator } = yield* starting()
    const operation = yield* generator.submit(request("job-1"))
    for (
      const [type, code] of [["content_policy_violation", "content_rejected"], [
        "runner_error",
        "upstream_error"
      ]] as const
    ) {
      fal.change({ status: "COMPLETED", error: upstreamText, error_type: type })
      assert.strictEqual(failureOf(yield* generator.poll(operation)), code)
    }
  }))

it.effect("can poll again if the queue fails to return the result of a completed request", () =>
  Effect.gen(function*() {
    const { fal, finish, generator } = yield* starting()
    const operation = yield* generator.submit(request("job-1"))
    finish()
    for (const handle of [drops, responds(502), responds(429)]) {
      // The status URL starts like the URL of the result.
      fal.next("GET /fal-ai/flux/requests/r1/status", responds(200, {}, { status: "COMPLETED" }))
      fal.next("GET /fal-ai/flux/requests/r1", handle)
      assert.strictEqual((yield* Contract.reasonOf(generator.poll(operation)))._tag, "Transient")
    }
    assert.strictEqual((yield* generator.poll(operation))._tag, "Succeeded")
  }))

it.effect("returns the file of the requested kind", () =>
  Effect.gen(function*() {
    const { fal, finish, generator } = yield* starting()
    const operation = yield* generator.submit(request("job-1", { kind: "video", mode: "text_to_video", format: "mp4" }))
    finish()
    assert.strictEqual((yield* Contract.reasonOf(generator.collect(operation)))._tag, "Permanent")
    const file = { url: `${fal.files.origin}/b.mp4`, content_type: "video/mp4" }
    for (const body of [{ video: file, images: [] }, { videos: [file] }]) {
      fal.result.body = body
      yield* Effect.flatMap(generator.collect(operation), Contract.read)
      assert.strictEqual(fal.files.requests.at(-1)?.path, "/b.mp4")
    }
  }))

it.effect("ignores that a completed request cannot be cancelled", () =>
  Effect.gen(function*() {
    const { finish, generator } = yield* starting()
    const operation = yield* generator.submit(request("job-1"))
    finish()
    yield* generator.cancel(operation)
    assert.strictEqual((yield* generator.poll(operation))._tag, "Succeeded")
  }))

const callbackUrl = "https://media.example.com/internal/callbacks/gen_1?exp=1&sig=s%26"

it.effect("passes the URL of callbacks on", () =>
  Effect.gen(function*() {
    const { fal, generator } = yield* starting()
    assert.isTrue(generator.callsBack)
    yield* generator.submit(request("job-1", { callbackUrl }))
    const { pathname, searchParams } = new URL(fal.submitted[0]!.path, fal.origin)
    assert.deepStrictEqual([pathname, [...searchParams]], ["/fal-ai/flux/dev", [["fal_webhook", callbackUrl]]])
  }))

it.effect("passes no URL on without `callbacks`", () =>
  Effect.gen(function*() {
    const { fal, generator } = yield* starting({ callbacks: false })
    assert.isFalse(generator.callsBack)
    yield* generator.submit(request("job-1", { callbackUrl }))
    assert.strictEqual(fal.submitted[0]?.path, "/fal-ai/flux/dev")
  }))

const problems = makeProblems(driver, options, 1)

it("returns every problem of a model", () => {
  assert.deepStrictEqual(problems(), [])
  for (const id of ["flux", "/fal-ai/flux", "fal-ai/../flux", "fal-ai/flux?x=1"]) {
    assert.deepStrictEqual(problems({ model: id }), [
      "driver.options.model must be the id of a model, such as fal-ai/flux/dev"
    ])
  }
  assert.deepStrictEqual(problems({ bindings: [] }), [
    "params_schema.0.name must be the source of a binding of the driver's options",
    "max_reference_images must be at most 0, the number of input images that have a binding"
  ])
})
