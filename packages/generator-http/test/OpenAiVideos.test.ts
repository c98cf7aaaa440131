import { assert, it } from "@effect/vitest"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import type { ServedModel } from "@kinora/generator/ServedModel"
import { openAiVideos } from "@kinora/testkit/upstreams/OpenAiVideosServer"
import { responds, sendsForever, upstreamText } from "@kinora/testkit/upstreams/ScriptedServer"
import { Effect, type Schema, Stream } from "effect"
import driver from "../src/OpenAiVideos.ts"
import * as Contract from "./ProtocolContract.ts"

const options = {
  model: "wan-2.2",
  fields: { fps: 16, negative_prompt: "blurred" },
  bindings: [
    { to: "seconds", from: "duration" },
    { to: "size", from: ["aspect_ratio", "resolution"], values: { "16:9 720p": "1280x720" } },
    { to: "seed", from: "seed" }
  ]
}

const request = (id: string, rest: Partial<GenerationRequest> = {}): GenerationRequest => ({
  id,
  model: { name: "wan", options },
  kind: "video",
  mode: "text_to_video",
  prompt: "a lake at night",
  params: { aspect_ratio: "16:9", resolution: "720p", duration: 4 },
  images: [],
  format: "mp4",
  seed: 7,
  ...rest
})

const start = Effect.map(openAiVideos, (server) => ({
  server,
  videos: server,
  options: { base_url: `${server.origin}/v1`, api_key: Contract.apiKey },
  jobs: () => server.videos.size,
  finish: () => {
    server.files.set("video", { mime: "video/mp4", bytes: Contract.resultBytes })
    server.change({ status: "completed" })
  },
  fail: () => server.change({ status: "failed", error: { code: "internal_error", message: upstreamText } }),
  confuse: () => server.change({ status: "preprocessing" }),
  restart: () => server.videos.clear()
}))

Contract.suite({
  name: "OpenAiVideos",
  driver,
  resubmit: "unsafe",
  lines: { submit: "POST /v1/videos", poll: /^GET \/v1\/videos\/[^/]+$/, result: /^GET \S+\/content$/ },
  mime: "video/mp4",
  whenLost: "Permanent",
  imageMode: "image_to_video",
  request,
  start
})

const starting = Effect.fnUntraced(function*(more: Readonly<Record<string, unknown>> = {}) {
  const running = yield* start
  return { ...running, generator: yield* Contract.generatorOf(driver, { ...running.options, ...more }) }
})

it.effect("sends the model, the prompt, constant fields and bound parameters as a form", () =>
  Effect.gen(function*() {
    const { generator, videos } = yield* starting()
    yield* generator.submit(request("job-1"))
    assert.deepStrictEqual(Object.fromEntries(videos.forms[0] ?? []), {
      model: "wan-2.2",
      prompt: "a lake at night",
      fps: "16",
      negative_prompt: "blurred",
      seconds: "4",
      size: "1280x720",
      seed: "7"
    })
    assert.strictEqual(videos.requests[0]?.headers.authorization, `Bearer ${Contract.apiKey}`)
  }))

it.effect("sends the input image as input_reference", () =>
  Effect.gen(function*() {
    const { generator, videos } = yield* starting()
    const bytes = Uint8Array.of(1, 2, 3)
    const image = { mime: "image/png" as const, width: 1, height: 1, bytes: 3, body: Stream.make(bytes) }
    yield* generator.submit(request("job-1", { mode: "image_to_video", images: [image] }))
    const file = videos.forms[0]?.get("input_reference") as File
    assert.strictEqual(file.type, "image/png")
    assert.deepStrictEqual(new Uint8Array(yield* Effect.promise(() => file.arrayBuffer())), bytes)
  }))

it.effect("returns the progress", () =>
  Effect.gen(function*() {
    const { generator, videos } = yield* starting()
    const operation = yield* generator.submit(request("job-1"))
    for (const [progress, expected] of [[0, 0], [42, 0.42], [120, 1]] as const) {
      videos.change({ status: "in_progress", progress })
      assert.deepInclude(yield* generator.poll(operation), { _tag: "Pending", progress: expected })
    }
  }))

it.effect("reports content that the upstream rejected, at submit and later", () =>
  Effect.gen(function*() {
    const { generator, videos } = yield* starting()
    const rejected = { code: "content_rejected", reason: "safety" } as const
    videos.next("POST", responds(400, {}, { error: { code: "moderation_blocked", message: upstreamText } }))
    assert.deepInclude(yield* Contract.reasonOf(generator.submit(request("job-1"))), rejected)
    const operation = yield* generator.submit(request("job-2"))
    videos.change({ status: "failed", error: { code: "content_policy_violation", message: upstreamText } })
    const status = yield* generator.poll(operation)
    assert.deepInclude(status._tag === "Failed" ? status.error : {}, rejected)
  }))

it.effect("fails for jobs that were cancelled or have expired at the upstream", () =>
  Effect.gen(function*() {
    const { generator, videos } = yield* starting()
    const operation = yield* generator.submit(request("job-1"))
    for (const status of ["cancelled", "canceled", "expired"]) {
      videos.change({ status })
      assert.strictEqual((yield* generator.poll(operation))._tag, "Failed")
    }
  }))

it.effect("ignores that an upstream cannot cancel, and can repeat a cancel that failed", () =>
  Effect.gen(function*() {
    const { generator, videos } = yield* starting()
    const operation = yield* generator.submit(request("job-1"))
    videos.next("DELETE", responds(405))
    yield* generator.cancel(operation)
    videos.next("DELETE", responds(500))
    assert.strictEqual((yield* Contract.reasonOf(generator.cancel(operation)))._tag, "Transient")
    yield* generator.cancel(operation)
    assert.strictEqual(videos.videos.size, 0)
  }))

it.effect("returns the thumbnail as poster if the upstream has thumbnails", () =>
  Effect.gen(function*() {
    const { finish, generator, videos } = yield* starting({ thumbnails: true })
    const operation = yield* generator.submit(request("job-1"))
    finish()
    videos.files.set("thumbnail", { mime: "image/webp", bytes: Uint8Array.of(9, 8, 7) })
    assert.deepStrictEqual((yield* generator.collect(operation)).poster, Uint8Array.of(9, 8, 7))
  }))

it.effect("returns the video without poster if its thumbnail is absent, too long or not an image", () =>
  Effect.gen(function*() {
    const { finish, generator, videos } = yield* starting({ thumbnails: true })
    const operation = yield* generator.submit(request("job-1"))
    finish()
    const withoutPoster = Effect.gen(function*() {
      const output = yield* generator.collect(operation)
      assert.isUndefined(output.poster)
      assert.deepStrictEqual(yield* Contract.read(output), Contract.resultBytes)
    })
    yield* withoutPoster
    videos.next("GET", sendsForever("image/webp"))
    yield* withoutPoster
    videos.files.set("thumbnail", { mime: "video/mp4", bytes: Contract.resultBytes })
    yield* withoutPoster
  }))

it.effect("does not use an id that would change the path", () =>
  Effect.gen(function*() {
    const { generator, videos } = yield* starting()
    videos.next("POST", responds(200, {}, { id: "..", status: "queued" }))
    assert.strictEqual((yield* Contract.reasonOf(generator.submit(request("job-1"))))._tag, "UnknownOutcome")
    assert.strictEqual((yield* generator.poll({ driver: "openai-videos", id: ".." }))._tag, "Failed")
    yield* generator.poll({ driver: "openai-videos", id: "a/../b" }).pipe(Effect.flip)
    assert.strictEqual(videos.requests.at(-1)?.path, "/v1/videos/a%2F..%2Fb")
  }))

const model: ServedModel = {
  kind: "video",
  capabilities: ["text_to_video", "image_to_video"],
  max_reference_images: 1,
  output_formats: ["video/mp4"],
  params_schema: [
    { name: "aspect_ratio", type: "string", values: ["16:9"] },
    { name: "resolution", type: "string", values: ["720p"] },
    { name: "duration", type: "int", min: 2, max: 8 }
  ],
  driver: { options }
}

const problems = (rest: Partial<ServedModel>, changed: { readonly [name: string]: Schema.Json } = {}) =>
  driver.check({ ...model, driver: { options: { ...options, ...changed } }, ...rest })
    .map(({ message, path }) => `${path.join(".")} ${message}`)

it("accepts a model whose parameters have bindings", () => {
  assert.deepStrictEqual(problems({}), [])
})

it("returns every problem of a model", () => {
  assert.deepStrictEqual(
    problems({ capabilities: ["text_to_image"], max_reference_images: 2 }, {
      fields: { fps: null },
      bindings: []
    }).length,
    3
  )
  assert.deepStrictEqual(
    problems({ params_schema: [] }, { bindings: [{ to: "prompt", from: "seed" }, { to: "image", from: "image_1" }] }),
    [
      "driver.options.bindings.0.to must not be a field that the driver sends: prompt, model, input_reference",
      "driver.options.bindings.1.from must not be an input image, which is sent as input_reference"
    ]
  )
})
