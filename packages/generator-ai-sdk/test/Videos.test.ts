/** Videos, which are started by one call and followed by others. */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import * as Generator from "@kinora/generator/Generator"
import { suite } from "@kinora/generator/testing"
import { openAiVideos } from "@kinora/testkit/upstreams/OpenAiVideosServer"
import { drops, responds, sendsForever, truncates, upstreamText } from "@kinora/testkit/upstreams/ScriptedServer"
import { Context, Effect, Exit, Fiber, Latch, Layer, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { fileURLToPath } from "node:url"
import driver from "../src/AiSdk.ts"

const apiKey = "sk-0123456789abcdef"
const module = fileURLToPath(new URL("./videos.ts", import.meta.url))
const mp4 = Buffer.from("a complete video")

const optionsOf = (origin: string, factory: object = {}, others: object = {}) => ({
  module,
  export: "createVideos",
  options: { apiKey, baseURL: `${origin}/v1`, ...factory },
  poll_interval: "1 second",
  private: true,
  ...others
})

const request = (id: string, others: Partial<GenerationRequest> = {}): GenerationRequest => ({
  id,
  model: { name: "clip", options: { model: "wan" } },
  kind: "video",
  mode: "text_to_video",
  prompt: "a lake at dawn",
  params: { aspect_ratio: "16:9", duration: 4 },
  images: [],
  format: "mp4",
  ...others
})

type Server = Effect.Success<typeof openAiVideos>

const endless = "a lake that has no end"

/** Completes every job right after it is created, unless it is endless. */
const completing = (server: Server) => {
  server.files.set("video", { mime: "video/mp4", bytes: mp4 })
  server.after("POST /v1/videos", ({ body }) => {
    if (!body.includes(endless)) server.change({ status: "completed" })
  })
  return server
}

const layerOf = (options: object) => Layer.unwrap(Effect.suspend(() => Effect.fromResult(driver.generator(options))))

const starting = Effect.fnUntraced(function*(factory: object = {}, others: object = {}) {
  const server = yield* openAiVideos
  const generator = Context.get(
    yield* Layer.build(layerOf(optionsOf(server.origin, factory, others))),
    Generator.Generator
  )
  return { server, generator }
})

const read = (generator: Generator.Generator["Service"], operation: Generator.Operation) =>
  Effect.scoped(Effect.flatMap(generator.collect(operation), ({ body }) => Stream.mkUint8Array(body)))

let scope: Scope.Closeable
let shared: Server
beforeAll(async () => {
  scope = await Effect.runPromise(Scope.make())
  shared = completing(await Effect.runPromise(Scope.provide(openAiVideos, scope)))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const polls = /^GET \/v1\/videos\/[^/]+$/
const downloads = /^GET \S+\/content$/

const next = (line: string | RegExp, handle: Parameters<Server["next"]>[1]) =>
  Effect.sync(() => shared.next(line, handle))

const { id: _, ...suiteRequest } = request("")

suite("AiSdk videos", {
  generator: Layer.unwrap(Effect.suspend(() => Effect.succeed(layerOf(optionsOf(shared.origin))))),
  request: suiteRequest,
  images: { mode: "image_to_video", file: mp4, mime: "image/png", width: 1, height: 1 },
  running: { prompt: endless },
  cancels: false,
  time: "live",
  secrets: [apiKey, suiteRequest.prompt, upstreamText],
  faults: [
    {
      when: "the provider returns 429",
      call: "submit",
      reason: "Transient",
      retryAfter: "7 seconds",
      arrange: next("POST", responds(429, { "retry-after": "7" }))
    },
    {
      when: "the provider returns 500",
      call: "submit",
      reason: "UnknownOutcome",
      arrange: next("POST", responds(500))
    },
    { when: "the connection breaks", call: "submit", reason: "UnknownOutcome", arrange: next("POST", drops) },
    {
      when: "the provider rejects the content",
      call: "submit",
      reason: "Permanent",
      code: "content_rejected",
      arrange: next("POST", responds(400, {}, { error: { code: "content_policy", message: upstreamText } }))
    },
    ...[429, 500, 503].map((status) => ({
      when: `the provider returns ${status}`,
      call: "poll" as const,
      reason: "Transient" as const,
      arrange: next(polls, responds(status))
    })),
    { when: "the connection breaks", call: "poll", reason: "Transient", arrange: next(polls, drops) },
    {
      when: "the provider no longer has the job",
      call: "poll",
      reason: "Permanent",
      code: "upstream_error",
      arrange: next(polls, responds(404))
    },
    {
      when: "the job has failed",
      call: "poll",
      reason: "Permanent",
      code: "upstream_error",
      arrange: next(polls, responds(200, {}, { id: "x", status: "failed", error: { message: upstreamText } }))
    },
    {
      when: "the provider rejects the result",
      call: "poll",
      reason: "Permanent",
      code: "content_rejected",
      arrange: next(
        polls,
        responds(200, {}, { id: "x", status: "failed", error: { message: "flagged by moderation" } })
      )
    },
    { when: "the storage returns 503", call: "collect", reason: "Transient", arrange: next(downloads, responds(503)) },
    {
      when: "the video breaks off",
      call: "collect",
      reason: "Transient",
      arrange: next(downloads, truncates("video/mp4", mp4))
    },
    {
      when: "the storage no longer has the video",
      call: "collect",
      reason: "Permanent",
      arrange: next(downloads, responds(403))
    }
  ]
})

it.live("starts a video with the id of the job, its shape and duration, and follows it in another process", () =>
  Effect.gen(function*() {
    const { generator, server } = yield* starting()
    const operation = yield* generator.submit(request("job-1"))
    assert.deepStrictEqual(operation, { driver: "ai-sdk", model: "wan", video: { id: "video_1" } })
    assert.deepStrictEqual(Object.fromEntries(server.forms[0] ?? []), {
      model: "wan",
      prompt: "a lake at dawn",
      aspectRatio: "16:9",
      duration: "4"
    })
    assert.strictEqual(server.requests[0]?.headers["idempotency-key"], "job-1")
    assert.strictEqual((yield* generator.poll(operation))._tag, "Pending")
    completing(server).change({ status: "completed" })
    const other = yield* Layer.build(layerOf(optionsOf(server.origin)))
    const continued = Context.get(other, Generator.Generator)
    assert.strictEqual((yield* continued.poll(operation))._tag, "Succeeded")
    assert.deepStrictEqual(Buffer.from(yield* read(continued, operation)), mp4)
    // The key is for the API of the provider, not for the address of a video.
    assert.isUndefined(server.requests.at(-1)?.headers.authorization)
    assert.strictEqual(server.forms.length, 1)
  }).pipe(Effect.scoped))

it.live("passes the resolution of an aspect ratio", () =>
  Effect.gen(function*() {
    const { generator, server } = yield* starting()
    const model = { name: "clip", options: { model: "wan", sizes: { "16:9": "1280x720" } } }
    yield* generator.submit(request("job-1", { model }))
    assert.deepInclude(Object.fromEntries(server.forms[0] ?? []), { resolution: "1280x720" })
  }).pipe(Effect.scoped))

it.live("collects videos that the provider returns as bytes, and rejects those that it keeps", () =>
  Effect.gen(function*() {
    for (const as of ["base64", "binary"] as const) {
      const { generator, server } = yield* starting({ as })
      completing(server)
      const operation = yield* generator.submit(request("job-1"))
      assert.deepStrictEqual(Buffer.from(yield* read(generator, operation)), mp4)
    }
    const { generator, server } = yield* starting({ as: "uploaded" })
    completing(server)
    const operation = yield* generator.submit(request("job-1"))
    assert.strictEqual((yield* Effect.flip(read(generator, operation))).reason._tag, "Permanent")
  }).pipe(Effect.scoped))

it.live("downloads from no private address unless it may, and no more than the limit", () =>
  Effect.gen(function*() {
    for (const others of [{ private: false }, { result_bytes_max: mp4.length - 1 }]) {
      const { generator, server } = yield* starting({}, others)
      completing(server)
      const operation = yield* generator.submit(request("job-1"))
      assert.strictEqual((yield* Effect.flip(read(generator, operation))).reason._tag, "Permanent")
      assert.strictEqual(server.requests.some(({ path }) => path.endsWith("/content")), others.private !== false)
    }
    const { generator, server } = yield* starting({}, { result_bytes_max: 100_000 })
    completing(server)
    const operation = yield* generator.submit(request("job-1"))
    server.next(downloads, sendsForever("video/mp4"))
    assert.strictEqual((yield* Effect.flip(read(generator, operation))).reason._tag, "Permanent")
  }).pipe(Effect.scoped))

it.live("follows redirects of a video", () =>
  Effect.gen(function*() {
    const { generator, server } = yield* starting()
    completing(server)
    const operation = yield* generator.submit(request("job-1"))
    server.next(downloads, responds(302, { location: `${server.origin}/v1/videos/video_1/content?again` }))
    assert.deepStrictEqual(Buffer.from(yield* read(generator, operation)), mp4)
    for (let redirects = 0; redirects <= 3; redirects++) {
      server.next(downloads, responds(302, { location: `${server.origin}/v1/videos/video_1/content` }))
    }
    assert.strictEqual((yield* Effect.flip(read(generator, operation))).reason._tag, "Permanent")
  }).pipe(Effect.scoped))

it.live("leaves a video that is given up to its provider", () =>
  Effect.gen(function*() {
    const { generator, server } = yield* starting()
    const operation = yield* generator.submit(request("job-1"))
    const requests = server.requests.length
    yield* generator.cancel(operation)
    assert.strictEqual(server.requests.length, requests)
    assert.strictEqual((yield* generator.poll(operation))._tag, "Pending")
  }).pipe(Effect.scoped))

it.effect("has an unknown outcome if the start reaches its time limit, and polls again if a status does", () =>
  Effect.gen(function*() {
    const { generator, server } = yield* starting({}, { call_timeout: "1 minute" })
    const operation = yield* generator.submit(request("job-1"))
    for (
      const [line, call, expected] of [
        ["POST", Effect.flip(generator.submit(request("job-2"))), "UnknownOutcome"],
        [polls, Effect.flip(generator.poll(operation)), "Transient"]
      ] as const
    ) {
      const received = yield* Latch.make()
      server.next(line, () => received.openUnsafe())
      const fiber = yield* Effect.forkChild(call, { startImmediately: true })
      yield* received.await
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(fiber)).reason._tag, expected)
    }
  }).pipe(Effect.scoped))

it.live("rejects video models that cannot be started, before a call", () =>
  Effect.gen(function*() {
    const generator = Context.get(yield* Layer.build(layerOf({ module, export: "unstartable" })), Generator.Generator)
    const { reason } = yield* Effect.flip(generator.submit(request("job-1")))
    assert.deepInclude(reason, { _tag: "Permanent", code: "upstream_error", reason: "internal" })
  }).pipe(Effect.scoped))

it("rejects models of videos with parameters or images that it cannot pass on", () => {
  const check = (name: string, type: "int" | "string", max_reference_images: number) =>
    driver.check({
      kind: "video",
      capabilities: ["text_to_video", "image_to_video"],
      max_reference_images,
      output_formats: ["video/mp4"],
      params_schema: [{ name, type, ...(type === "int" ? { min: 2, max: 8 } : { values: ["x"] }) }],
      driver: { options: {} }
    }).map(({ message }) => message)
  assert.deepStrictEqual(check("duration", "int", 1), [])
  assert.deepStrictEqual(check("duration", "int", 2), ["must be at most 1 for videos"])
  assert.deepStrictEqual(check("duration", "string", 1), ["must be aspect_ratio, or duration of type int"])
  assert.deepStrictEqual(check("fps", "int", 1), ["must be aspect_ratio, or duration of type int"])
})
