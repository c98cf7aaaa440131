import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import type { Driver } from "@kinora/generator"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import * as Generator from "@kinora/generator/Generator"
import { suite } from "@kinora/generator/testing"
import { json, listen } from "@kinora/testkit/upstreams/Listener"
import { openAiImages } from "@kinora/testkit/upstreams/OpenAiImagesServer"
import {
  drops,
  formOf,
  responds,
  type Scripted,
  sendsForever,
  upstreamText
} from "@kinora/testkit/upstreams/ScriptedServer"
import { Context, Duration, Effect, Exit, Fiber, Latch, Layer, Result, Schema, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { fileURLToPath } from "node:url"
import driver, { ModelOptions } from "../src/AiSdk.ts"

const apiKey = "sk-0123456789abcdef"

/** A PNG of one pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

const server = openAiImages({ mime: "image/png", bytes: png })

/** Options with the provider of OpenAI, at this origin. */
const openAi = (origin: string, others: object = {}) => ({
  module: "@ai-sdk/openai",
  export: "createOpenAI",
  options: { apiKey, baseURL: `${origin}/v1` },
  ...others
})

const request = (id: string, others: Partial<GenerationRequest> = {}): GenerationRequest => ({
  id,
  model: { name: "images", options: { model: "gpt-image-1", sizes: { "3:2": "1536x1024" } } },
  kind: "image",
  mode: "text_to_image",
  prompt: "a lake at dawn",
  params: { aspect_ratio: "3:2" },
  images: [],
  format: "png",
  ...others
})

const generatorOf = (options: unknown) =>
  Effect.map(
    Effect.flatMap(Effect.fromResult(driver.generator(options)), Layer.build),
    Context.get(Generator.Generator)
  )

/** Starts a server, and a driver for it. */
const starting = Effect.fnUntraced(function*(others: object = {}) {
  const upstream = yield* server
  return { upstream, generator: yield* generatorOf(openAi(upstream.origin, others)) }
})

const reasonOf = Effect.fnUntraced(function*(generator: Generator.Generator["Service"], id = "job-1") {
  return (yield* Effect.flip(generator.submit(request(id)))).reason
})

let scope: Scope.Closeable
let shared: Scripted
beforeAll(async () => {
  scope = await Effect.runPromise(Scope.make())
  shared = await Effect.runPromise(Scope.provide(server, scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** Makes the next request of the suite fail. */
const next = (handle: Parameters<Scripted["next"]>[1]) => Effect.sync(() => shared.next("POST", handle))

const { id: _, ...suiteRequest } = request("")

const failing = (status: number, code: string) => next(responds(status, {}, { error: { code, message: upstreamText } }))

suite("AiSdk", {
  generator: Layer.unwrap(Effect.suspend(() => Effect.fromResult(driver.generator(openAi(shared.origin))))),
  request: suiteRequest,
  images: { mode: "image_to_image", file: png, mime: "image/png", width: 1, height: 1 },
  continues: "process",
  time: "live",
  secrets: [apiKey, suiteRequest.prompt, upstreamText],
  faults: [
    {
      when: "the provider returns 429",
      call: "submit",
      reason: "Transient",
      retryAfter: "7 seconds",
      arrange: next(responds(429, { "retry-after": "7" }))
    },
    {
      when: "the provider returns 503 with a time",
      call: "submit",
      reason: "Transient",
      retryAfter: "3 seconds",
      arrange: next(responds(503, { "retry-after": "3" }))
    },
    ...[408, 500, 502, 503].map((status) => ({
      when: `the provider returns ${status}`,
      call: "submit" as const,
      reason: "UnknownOutcome" as const,
      arrange: next(responds(status))
    })),
    { when: "the connection breaks", call: "submit", reason: "UnknownOutcome", arrange: next(drops) },
    {
      when: "the response is not JSON",
      call: "submit",
      reason: "UnknownOutcome",
      arrange: next((_, r) => void r.end("?"))
    },
    {
      when: "the response has no end",
      call: "submit",
      reason: "UnknownOutcome",
      arrange: next(sendsForever("application/json"))
    },
    {
      when: "the response has no image",
      call: "submit",
      reason: "UnknownOutcome",
      arrange: next((_, response) => json(response, 200, { data: [{}] }))
    },
    ...([
      [401, "x", "upstream_error"],
      [402, "x", "upstream_error"],
      [429, "insufficient_quota", "upstream_error"],
      [
        400,
        "moderation_blocked",
        "content_rejected"
      ],
      [400, "invalid_value", "invalid_input"],
      [422, "x", "invalid_input"]
    ] as const).map(([status, error, code]) => ({
      when: `the provider returns ${status} ${error}`,
      call: "submit" as const,
      reason: "Permanent" as const,
      code,
      arrange: failing(status, error)
    }))
  ]
})

it.live("makes one call with the size, the options of the provider and the key", () =>
  Effect.gen(function*() {
    const { generator, upstream } = yield* starting()
    const options = {
      model: "gpt-image-1",
      sizes: { "3:2": "1536x1024" },
      provider_options: { openai: { quality: "high" } }
    }
    const operation = yield* generator.submit(request("job-1", { model: { name: "images", options } }))
    assert.deepStrictEqual(operation, { driver: "ai-sdk", id: "job-1" })
    const { body, mime } = yield* generator.collect(operation)
    assert.strictEqual(mime, "image/png")
    assert.deepStrictEqual(Buffer.from(yield* Stream.mkUint8Array(body)), png)
    const [sent, ...others] = upstream.requests
    assert.strictEqual(others.length, 0)
    assert.strictEqual(sent?.path, "/v1/images/generations")
    assert.strictEqual(sent?.headers.authorization, `Bearer ${apiKey}`)
    assert.deepInclude(JSON.parse(String(sent?.body)), {
      model: "gpt-image-1",
      prompt: "a lake at dawn",
      n: 1,
      size: "1536x1024",
      quality: "high"
    })
  }).pipe(Effect.scoped))

it.live("sends input images", () =>
  Effect.gen(function*() {
    const { generator, upstream } = yield* starting()
    const image = { mime: "image/png", width: 1, height: 1, bytes: png.length, body: Stream.make(png) } as const
    yield* generator.submit(request("job-1", { mode: "image_to_image", images: [image, image] }))
    const [sent] = upstream.requests
    assert.strictEqual(sent?.path, "/v1/images/edits")
    const form = yield* Effect.promise(() => formOf(sent!))
    assert.strictEqual(form.getAll("image[]").length, 2)
  }).pipe(Effect.scoped))

it.live("does not repeat a call whose outcome is unknown", () =>
  Effect.gen(function*() {
    const { generator, upstream } = yield* starting()
    upstream.next("POST", responds(500))
    assert.strictEqual((yield* reasonOf(generator))._tag, "UnknownOutcome")
    assert.strictEqual(upstream.requests.length, 1)
  }).pipe(Effect.scoped))

it.live("can be repeated if there was no connection", () =>
  Effect.gen(function*() {
    const { origin } = yield* Effect.scoped(listen(() => {}))
    const generator = yield* generatorOf(openAi(origin))
    assert.strictEqual((yield* reasonOf(generator))._tag, "Transient")
  }).pipe(Effect.scoped))

it.live("does not follow redirects", () =>
  Effect.gen(function*() {
    const { generator, upstream } = yield* starting()
    upstream.next("POST", responds(307, { location: `${upstream.origin}/v1/images/generations` }))
    assert.strictEqual((yield* reasonOf(generator))._tag, "UnknownOutcome")
    assert.strictEqual(upstream.requests.length, 1)
  }).pipe(Effect.scoped))

it.effect("has an unknown outcome at the time limit, and closes the connection", () =>
  Effect.gen(function*() {
    const { generator, upstream } = yield* starting({ call_timeout: "1 minute" })
    const received = yield* Latch.make()
    const closed = yield* Latch.make()
    upstream.next("POST", (_, response) => {
      response.once("close", () => closed.openUnsafe())
      received.openUnsafe()
    })
    const submit = yield* Effect.forkChild(reasonOf(generator), { startImmediately: true })
    yield* received.await
    yield* TestClock.adjust("1 minute")
    assert.strictEqual((yield* Fiber.join(submit))._tag, "UnknownOutcome")
    yield* closed.await
  }).pipe(Effect.scoped))

it.effect("keeps images for 10 minutes, and not more than the limit", () =>
  Effect.gen(function*() {
    const { generator } = yield* starting({ kept_bytes_max: png.length * 2 })
    const submit = (id: string) => generator.submit(request(id))
    const isKept = (operation: Generator.Operation) =>
      Effect.map(generator.poll(operation), ({ _tag }) => _tag === "Succeeded")
    const operations = yield* Effect.forEach(["1", "2", "3"], submit)
    assert.deepStrictEqual(yield* Effect.forEach(operations, isKept), [false, true, true])
    yield* TestClock.adjust(Duration.sum(Duration.minutes(10), Duration.millis(1)))
    yield* submit("4")
    assert.deepStrictEqual(yield* Effect.forEach(operations, isKept), [false, false, false])
  }).pipe(Effect.scoped))

const models = fileURLToPath(new URL("./models.ts", import.meta.url))

it.live("uses a model or a provider that a module exports", () =>
  Effect.gen(function*() {
    for (const [name, model] of [["default", undefined], ["provider", "painted"]] as const) {
      const generator = yield* generatorOf({ module: models, export: name })
      const options = model === undefined ? {} : { model }
      const operation = yield* generator.submit(request("job-1", { model: { name: "images", options } }))
      const { body } = yield* generator.collect(operation)
      assert.strictEqual((yield* Stream.mkUint8Array(body)).length, png.length)
    }
  }).pipe(Effect.scoped))

it.live("modules that cannot be used stop the start, without the options of factories", () =>
  Effect.gen(function*() {
    for (
      const [options, message] of [
        [{ module: "./nowhere.ts" }, "The module ./nowhere.ts cannot be loaded"],
        [{ module: "@nobody/nothing" }, "The module @nobody/nothing cannot be loaded"],
        [{ module: models, export: "nothing" }, "nothing of the module"],
        [{ module: models, export: "number" }, "number of the module"],
        [{ module: models, export: "failing", options: { apiKey } }, "The factory of the provider rejected its options"]
      ] as const
    ) {
      const layer = yield* Effect.fromResult(driver.generator(options))
      const error: Driver.DriverError = yield* Effect.flip(Layer.build(layer))
      assert.include(error.message, message)
      assert.notInclude(error.message, apiKey)
    }
  }).pipe(Effect.scoped))

it("rejects models whose parameters it cannot pass on", () => {
  const model = (
    params_schema: Parameters<typeof driver.check>[0]["params_schema"],
    options: typeof ModelOptions.Type
  ) =>
    driver.check({
      kind: "image",
      capabilities: ["text_to_image"],
      max_reference_images: 0,
      output_formats: ["image/png"],
      params_schema,
      driver: { options: Schema.encodeSync(ModelOptions)(options) }
    }).map(({ message }) => message)
  const ratios = { name: "aspect_ratio", type: "string", values: ["1:1", "3:2"] } as const
  assert.deepStrictEqual(model([ratios], { model: "m" }), [])
  assert.deepStrictEqual(model([ratios], { model: "m", sizes: { "1:1": "64x64" } }), ["must have a size for 3:2"])
  assert.deepStrictEqual(model([{ name: "resolution", type: "string", values: ["1k"] }], {}), ["must be aspect_ratio"])
  assert.deepStrictEqual(model([{ ...ratios, values: ["wide"] }], {}), ["must be aspect ratios such as 3:2"])
  assert.isTrue(Result.isFailure(driver.generator({ module: "x", call_timeout: "6 minutes" })))
})
