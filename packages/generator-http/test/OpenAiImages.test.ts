import { assert, it } from "@effect/vitest"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import type { ServedModel } from "@kinora/generator/ServedModel"
import { suite } from "@kinora/generator/testing"
import { type Handler, json } from "@kinora/testkit/upstreams/Listener"
import { openAiImages } from "@kinora/testkit/upstreams/OpenAiImagesServer"
import { formOf, responds, scripted, sendFile, upstreamText } from "@kinora/testkit/upstreams/ScriptedServer"
import { Duration, Effect, Fiber, Latch, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import driver from "../src/OpenAiImages.ts"
import * as Contract from "./ProtocolContract.ts"

const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Contract.resultBytes])

const request = (id: string): GenerationRequest => ({
  id,
  model: {
    name: "images",
    options: {
      model: "gpt-image-1",
      fields: { quality: "high" },
      bindings: [{ to: "size", from: "aspect_ratio", values: { "1:1": "1024x1024" } }]
    }
  },
  kind: "image",
  mode: "text_to_image",
  prompt: "a lake at dawn",
  params: { aspect_ratio: "1:1" },
  images: [],
  format: "png"
})

const withImages = (id: string): GenerationRequest => {
  const image = (byte: number) =>
    ({ mime: "image/png", width: 1, height: 1, bytes: 1, body: Stream.make(Uint8Array.of(byte)) }) as const
  return { ...request(id), mode: "image_to_image", images: [image(1), image(2)] }
}

/** A server that returns `png` as base64, and a driver for it. */
const starting = Effect.fnUntraced(function*(options: Readonly<Record<string, unknown>> = {}) {
  const server = yield* openAiImages({ mime: "image/png", bytes: png })
  const all = { base_url: `${server.origin}/v1`, api_key: Contract.apiKey, ...options }
  return { server, generator: yield* Contract.generatorOf(driver, all) }
})

const upstream = Contract.shared(openAiImages({ mime: "image/png", bytes: png }))

const options = () => ({ base_url: `${upstream().origin}/v1`, api_key: Contract.apiKey })

const { id: _, ...contractRequest } = request("")

suite("OpenAiImages", {
  generator: Layer.unwrap(Effect.suspend(() => Effect.fromResult(driver.generator(options())))),
  request: contractRequest,
  images: { mode: "image_to_image", file: png, mime: "image/png", width: 1, height: 1 },
  faults: Contract.submitFaults(
    "unsafe",
    "invalid_input",
    (handle) => Effect.sync(() => upstream().next("POST", handle))
  ),
  secrets: [Contract.apiKey, contractRequest.prompt, upstreamText],
  continues: "process"
})

it.effect("generates an image from text", () =>
  Effect.gen(function*() {
    const { generator, server } = yield* starting()
    const operation = yield* generator.submit(request("job-1"))
    assert.deepStrictEqual(operation, { driver: "openai-images", id: "job-1" })
    assert.strictEqual((yield* generator.poll(operation))._tag, "Succeeded")
    for (const _ of [1, 2]) {
      const output = yield* generator.collect(operation)
      assert.strictEqual(output.mime, "image/png")
      assert.deepStrictEqual(Buffer.from(yield* Contract.read(output)), png)
    }
    const [sent] = server.requests
    assert.strictEqual(sent?.path, "/v1/images/generations")
    assert.strictEqual(sent?.headers.authorization, `Bearer ${Contract.apiKey}`)
    assert.deepStrictEqual(JSON.parse(String(sent?.body)), {
      model: "gpt-image-1",
      prompt: "a lake at dawn",
      n: 1,
      quality: "high",
      size: "1024x1024"
    })
  }))

it.effect("edits input images, in order", () =>
  Effect.gen(function*() {
    const { generator, server } = yield* starting()
    yield* generator.submit(withImages("job-1"))
    const [sent] = server.requests
    assert.strictEqual(sent?.path, "/v1/images/edits")
    const form = yield* Effect.promise(() => formOf(sent!))
    assert.strictEqual(form.get("n"), "1")
    assert.strictEqual(form.get("size"), "1024x1024")
    const files = yield* Effect.promise(() =>
      Promise.all((form.getAll("image[]") as Array<File>).map((file) => file.arrayBuffer()))
    )
    assert.deepStrictEqual(files.map((file) => new Uint8Array(file)), [Uint8Array.of(1), Uint8Array.of(2)])
  }))

it.effect("downloads an image that the upstream returns as a URL", () =>
  Effect.gen(function*() {
    const { generator, server } = yield* starting()
    server.next("POST", (_, response) => json(response, 200, { data: [{ url: `${server.origin}/files/1` }] }))
    const operation = yield* generator.submit(request("job-1"))
    assert.notInclude(JSON.stringify(operation), "files")
    assert.deepStrictEqual(Buffer.from(yield* Contract.read(yield* generator.collect(operation))), png)
  }))

it.effect("does not download from a private address that the upstream returns", () =>
  Effect.gen(function*() {
    const { generator, server } = yield* starting()
    const other = yield* scripted((_, response) => sendFile(response, "image/png", png))
    server.next("POST", (_, response) => json(response, 200, { data: [{ url: `${other.origin}/1` }] }))
    const operation = yield* generator.submit(request("job-1"))
    assert.strictEqual((yield* Contract.reasonOf(generator.collect(operation)))._tag, "Permanent")
    assert.lengthOf(other.requests, 0)
  }))

it.effect.each<readonly [string, Handler, string]>([
  ["no image", responds(200, {}, { data: [] }), "UnknownOutcome"],
  ["no base64", responds(200, {}, { data: [{ b64_json: "?" }] }), "UnknownOutcome"],
  [
    "an empty account",
    responds(429, {}, { error: { code: "insufficient_quota", message: upstreamText } }),
    "upstream_error"
  ]
])("fails if the upstream responds with %s", ([, handle, expected]) =>
  Effect.gen(function*() {
    const { generator, server } = yield* starting()
    server.next("POST", handle)
    const reason = yield* Contract.reasonOf(generator.submit(request("job-1")))
    assert.strictEqual(reason._tag === "Permanent" ? reason.code : reason._tag, expected)
    assert.notInclude(JSON.stringify(reason), upstreamText)
  }))

it.effect("has an unknown outcome after the time limit", () =>
  Effect.gen(function*() {
    const { generator, server } = yield* starting()
    const received = Latch.makeUnsafe(false)
    server.next("POST", () => received.openUnsafe())
    const submit = yield* Effect.forkChild(Contract.reasonOf(generator.submit(request("job-1"))))
    yield* received.await
    yield* TestClock.adjust(Duration.minutes(3))
    assert.strictEqual((yield* Fiber.join(submit))._tag, "UnknownOutcome")
  }))

it.effect("fails a job whose image was dropped because others have too many bytes", () =>
  Effect.gen(function*() {
    const { generator } = yield* starting({ kept_bytes_max: png.length })
    const first = yield* generator.submit(request("job-1"))
    const second = yield* generator.submit(request("job-2"))
    assert.strictEqual((yield* generator.poll(first))._tag, "Failed")
    assert.strictEqual((yield* generator.poll(second))._tag, "Succeeded")
  }))

it.effect("drops an image that was not collected for ten minutes when the next one arrives", () =>
  Effect.gen(function*() {
    const { generator } = yield* starting()
    const first = yield* generator.submit(request("job-1"))
    yield* TestClock.adjust("11 minutes")
    yield* generator.submit(request("job-2"))
    assert.strictEqual((yield* generator.poll(first))._tag, "Failed")
  }))

it("returns every problem of a model", () => {
  const model: ServedModel = {
    kind: "image",
    capabilities: ["text_to_image", "image_to_image"],
    max_reference_images: 1,
    output_formats: ["image/png"],
    params_schema: [],
    driver: { options: { model: "a", bindings: [{ to: "prompt", from: "seed" }, { to: "mask", from: "image_1" }] } }
  }
  assert.deepStrictEqual(driver.check(model).map(({ message, path }) => `${path.join(".")} ${message}`), [
    "driver.options.bindings.0.to must not be a field that the driver sends: prompt, model, n, image, image[]",
    "driver.options.bindings.1.from must not be an input image, which is sent as image[]"
  ])
})
