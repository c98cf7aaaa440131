import { assert, it } from "@effect/vitest"
import { Context, Duration, Effect, Fiber, Layer, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { crc32, inflateSync } from "node:zlib"
import type { GenerationRequest, InputImage } from "../src/GenerationRequest.ts"
import { Generator } from "../src/Generator.ts"
import { GeneratorError, Permanent, Transient } from "../src/GeneratorError.ts"
import * as ScriptedGenerator from "../src/ScriptedGenerator.ts"
import { request } from "./Requests.ts"

const scripted = (options?: ScriptedGenerator.ScriptedOptions) =>
  ScriptedGenerator.layer.pipe(Layer.provideMerge(ScriptedGenerator.layerControl(options)))

const rejected = new Permanent({ code: "content_rejected", reason: "safety", message: "Not this." })

const bytesOf = (output: { readonly body: Stream.Stream<Uint8Array, GeneratorError> }) =>
  Effect.map(Stream.runCollect(output.body), (parts) => Buffer.concat(Array.from(parts)))

it.effect("succeeds immediately without a script", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const operation = yield* generator.submit(request("a"))
    assert.strictEqual((yield* generator.poll(operation))._tag, "Succeeded")
  }).pipe(Effect.provide(scripted())))

it.effect("is pending for its delay, and returns an interval that ends no later", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const operation = yield* generator.submit(request("a"))
    assert.deepStrictEqual(yield* after(generator.poll(operation)), Duration.seconds(1))
    yield* TestClock.adjust("9500 millis")
    assert.deepStrictEqual(yield* after(generator.poll(operation)), Duration.millis(500))
    yield* TestClock.adjust("500 millis")
    assert.strictEqual((yield* generator.poll(operation))._tag, "Succeeded")
  }).pipe(Effect.provide(scripted({ script: { delay: "10 seconds" } }))))

const after = <E>(poll: Effect.Effect<Effect.Success<ReturnType<Generator["Service"]["poll"]>>, E>) =>
  Effect.map(poll, (status) => status._tag === "Pending" ? status.after : undefined)

it.effect("returns from the poll of a held request when its outcome is decided", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const control = yield* ScriptedGenerator.Control
    const operation = yield* generator.submit(request("a"))
    const poll = yield* Effect.forkChild(generator.poll(operation))
    yield* control.called("poll", "a")
    yield* control.fail("a", rejected)
    assert.deepStrictEqual(yield* Fiber.join(poll), { _tag: "Failed", error: rejected })
  }).pipe(Effect.provide(scripted({ script: { delay: "hold" } }))))

it.effect("returns Pending from the poll of a held request after a poll interval", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const poll = yield* Effect.forkChild(Effect.flatMap(generator.submit(request("a")), generator.poll))
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(yield* after(Fiber.join(poll)), Duration.zero)
  }).pipe(Effect.provide(scripted({ script: { delay: "hold" } }))))

it.effect("fails with the failure of the script", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const operation = yield* generator.submit(request("a"))
    assert.deepStrictEqual(yield* generator.poll(operation), { _tag: "Failed", error: rejected })
    const error = yield* Effect.flip(Effect.scoped(generator.collect(operation)))
    assert.deepStrictEqual(error.reason, rejected)
  }).pipe(Effect.provide(scripted({ script: { outcome: rejected } }))))

it.effect("selects the script by request, and decides by id", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const control = yield* ScriptedGenerator.Control
    yield* control.script("kept", { outcome: "succeed" })
    const outcomeOf = (id: string, prompt: string) =>
      Effect.map(Effect.flatMap(generator.submit(request(id, { prompt })), generator.poll), ({ _tag }) => _tag)
    assert.strictEqual(yield* outcomeOf("a", "bad"), "Failed")
    assert.strictEqual(yield* outcomeOf("b", "good"), "Succeeded")
    assert.strictEqual(yield* outcomeOf("kept", "bad"), "Succeeded")
  }).pipe(
    Effect.provide(scripted({ script: ({ prompt }) => ({ outcome: prompt === "bad" ? rejected : "succeed" }) }))
  ))

const many = Array.from({ length: 400 }, (_, index) => `r${index}`)

it.effect("fails the configured share of requests with the failure of the script", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const statuses = yield* Effect.forEach(many, (id) => Effect.flatMap(generator.submit(request(id)), generator.poll))
    const failures = statuses.filter((status) => status._tag === "Failed")
    assert.isAbove(failures.length, 60)
    assert.isBelow(failures.length, 140)
    for (const { error } of failures) assert.deepStrictEqual(error, rejected)
  }).pipe(Effect.provide(scripted({ script: { outcome: rejected, failureRate: 0.25 } }))))

it.effect("fails no request at a rate of 0, and every request at a rate of 1", () =>
  Effect.gen(function*() {
    for (const [failureRate, expected] of [[0, "Succeeded"], [1, "Failed"]] as const) {
      const control = scripted({ script: { outcome: rejected, failureRate } })
      const generator = Context.get(yield* Layer.build(control), Generator)
      for (const id of many) {
        assert.strictEqual((yield* Effect.flatMap(generator.submit(request(id)), generator.poll))._tag, expected)
      }
    }
  }))

it.effect("takes a random time between delay and delayMax for each request", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const operations = yield* Effect.forEach(many, (id) => generator.submit(request(id)))
    const pending = Effect.map(
      Effect.forEach(operations, (operation) => generator.poll(operation)),
      (statuses) => statuses.filter(({ _tag }) => _tag === "Pending").length
    )
    yield* TestClock.adjust("999 millis")
    assert.strictEqual(yield* pending, 400)
    yield* TestClock.adjust("1001 millis")
    const inTheMiddle = yield* pending
    assert.isAbove(inTheMiddle, 140)
    assert.isBelow(inTheMiddle, 260)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* pending, 0)
  }).pipe(Effect.provide(scripted({ script: { delay: "1 second", delayMax: "3 seconds" } }))))

it.effect("reads every input image to its end during submit, in order", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const control = yield* ScriptedGenerator.Control
    const read: Array<number> = []
    const image = (width: number, ...parts: ReadonlyArray<number>): InputImage => ({
      mime: "image/webp",
      width,
      height: 20,
      bytes: parts.reduce((total, part) => total + part, 0),
      body: Stream.tap(
        Stream.map(Stream.fromIterable(parts), (part) => new Uint8Array(part)),
        ({ length }) => Effect.sync(() => read.push(length))
      )
    })
    const images = [image(10, 5, 6), image(11, 7)]
    assert.deepStrictEqual(yield* control.images("a"), [])
    yield* generator.submit(request("a", { mode: "image_to_image", images }))
    assert.deepStrictEqual(read, [5, 6, 7])
    assert.deepStrictEqual(yield* control.images("a"), [
      { mime: "image/webp", width: 10, height: 20, bytes: 11 },
      { mime: "image/webp", width: 11, height: 20, bytes: 7 }
    ])
    yield* generator.submit(request("a", { mode: "image_to_image", images }))
    assert.deepStrictEqual(read, [5, 6, 7], "images of a submitted request are not read again")
  }).pipe(Effect.provide(scripted())))

it.effect("rejects a request whose images cannot be read, and accepts it when they can", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const bytes = new Uint8Array(3)
    const submit = (body: InputImage["body"]) =>
      generator.submit(request("a", {
        mode: "image_to_image",
        images: [{ mime: "image/png", width: 9, height: 9, bytes: 3, body }]
      }))
    const away = yield* Effect.flip(submit(Stream.fail(new GeneratorError({ reason: new Transient({}) }))))
    assert.isTrue(away.isRetryable)
    const gone = yield* Effect.flip(submit(Stream.fail(new GeneratorError({ reason: rejected }))))
    assert.deepStrictEqual(gone.reason, rejected)
    for (const body of [Stream.empty, Stream.make(bytes, bytes)]) {
      assert.strictEqual((yield* Effect.flip(submit(body))).reason._tag, "Permanent")
    }
    assert.strictEqual((yield* Effect.flatMap(submit(Stream.make(bytes)), generator.poll))._tag, "Succeeded")
  }).pipe(Effect.provide(scripted())))

it.effect("fails with the scripted errors first, one per call", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const busy = yield* Effect.flip(generator.submit(request("a")))
    assert.isTrue(busy.isRetryable)
    const operation = yield* generator.submit(request("a"))
    assert.isTrue((yield* Effect.flip(generator.poll(operation))).isRetryable)
    assert.strictEqual((yield* generator.poll(operation))._tag, "Succeeded")
    assert.isTrue((yield* Effect.flip(Effect.scoped(generator.collect(operation)))).isRetryable)
    const cut = yield* Effect.scoped(
      Effect.flatMap(generator.collect(operation), (output) => Effect.flip(bytesOf(output)))
    )
    assert.isTrue(cut.isRetryable)
    assert.strictEqual((yield* Effect.scoped(Effect.flatMap(generator.collect(operation), bytesOf))).length, 4096)
  }).pipe(
    Effect.provide(scripted({
      script: {
        submitErrors: [new Transient({ retryAfter: Duration.seconds(1) })],
        pollErrors: [new Transient({})],
        collectErrors: [new Transient({})],
        bodyErrors: [new Transient({})]
      }
    }))
  ))

it.effect("returns the same operation for the same id if resubmit is safe", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const first = yield* generator.submit(request("a"))
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(yield* generator.submit(request("a")), first)
  }).pipe(Effect.provide(scripted({ script: { delay: "1 minute" } }))))

it.effect("starts new work for the same id if resubmit is unsafe", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    assert.strictEqual(generator.resubmit, "unsafe")
    const first = yield* generator.submit(request("a"))
    yield* TestClock.adjust("1 hour")
    assert.notDeepEqual(yield* generator.submit(request("a")), first)
  }).pipe(Effect.provide(scripted({ script: { delay: "1 minute" }, resubmit: "unsafe" }))))

it.effect("continues in another process from an operation that was encoded as JSON", () =>
  Effect.gen(function*() {
    const here = Context.get(
      yield* Layer.build(scripted({ script: { delay: "1 minute", outcome: rejected } })),
      Generator
    )
    const there = Context.get(yield* Layer.build(scripted()), Generator)
    const operation = JSON.parse(JSON.stringify(yield* here.submit(request("a")))) as Schema.Json
    assert.strictEqual((yield* there.poll(operation))._tag, "Pending")
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(yield* there.poll(operation), { _tag: "Failed", error: rejected })
  }))

it.effect("stops cancelled work, and does not change finished work", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const control = yield* ScriptedGenerator.Control
    yield* control.script("running", { delay: "1 minute" })
    const running = yield* generator.submit(request("running"))
    const over = yield* generator.submit(request("over"))
    yield* generator.cancel(running)
    yield* generator.cancel(over)
    assert.strictEqual((yield* generator.poll(running))._tag, "Failed")
    assert.strictEqual((yield* generator.poll(over))._tag, "Succeeded")
  }).pipe(Effect.provide(scripted())))

it.effect("records calls in order", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const control = yield* ScriptedGenerator.Control
    const operation = yield* generator.submit(request("a"))
    yield* generator.poll(operation)
    yield* Effect.scoped(generator.collect(operation))
    yield* generator.cancel(operation)
    assert.deepStrictEqual((yield* control.calls).map(({ method }) => method), ["submit", "poll", "collect", "cancel"])
    assert.deepStrictEqual(yield* control.called("collect"), { method: "collect", id: "a" })
  }).pipe(Effect.provide(scripted())))

it.effect("drops the oldest calls beyond the maximum", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const control = yield* ScriptedGenerator.Control
    for (const id of ["a", "b", "c"]) yield* generator.submit(request(id))
    assert.deepStrictEqual((yield* control.calls).map(({ id }) => id), ["b", "c"])
  }).pipe(Effect.provide(scripted({ rememberedMax: 2 }))))

it.effect.prop(
  "returns a PNG of exactly the requested size with valid checksums",
  [Schema.Int.check(Schema.isBetween({ minimum: 400, maximum: 300_000 }))],
  ([bytes]) =>
    Effect.gen(function*() {
      const generator = yield* Generator
      const output = yield* Effect.flatMap(generator.submit(request("a")), generator.collect)
      const file = yield* bytesOf(output)
      assert.strictEqual(file.length, bytes)
      assert.strictEqual(output.mime, "image/png")
      const chunks = pngChunks(file)
      assert.strictEqual(chunks.at(-1)?.type, "IEND")
      const pixels = chunks.find(({ type }) => type === "IDAT")
      assert.strictEqual(inflateSync(pixels?.body ?? Buffer.alloc(0)).length, 16 * 17)
    }).pipe(Effect.scoped, Effect.provide(scripted({ script: { bytes } }))),
  { arbitrary: { runs: 40 } }
)

it.effect("returns a container of exactly the requested size for a video", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const operation = yield* generator.submit(request("a", { kind: "video", mode: "text_to_video", format: "mp4" }))
    const output = yield* generator.collect(operation)
    const file = yield* bytesOf(output)
    assert.strictEqual(output.mime, "video/mp4")
    assert.strictEqual(file.length, 1_000_000)
    assert.strictEqual(file.toString("latin1", 4, 8), "ftyp")
  }).pipe(Effect.scoped, Effect.provide(scripted({ script: { bytes: 1_000_000 } }))))

it.effect("returns a poster with a video, and none with an image", () =>
  Effect.gen(function*() {
    const generator = yield* Generator
    const posterOf = (id: string, rest: Partial<GenerationRequest>) =>
      Effect.map(Effect.flatMap(generator.submit(request(id, rest)), generator.collect), ({ poster }) => poster)
    const poster = yield* posterOf("a", { kind: "video", mode: "text_to_video", format: "mp4" })
    assert.deepStrictEqual(pngChunks(Buffer.from(poster ?? [])).map(({ type }) => type), ["IHDR", "IDAT", "IEND"])
    assert.isUndefined(yield* posterOf("b", {}))
  }).pipe(Effect.scoped, Effect.provide(scripted())))

/** The chunks of a PNG; fails on a wrong checksum. */
const pngChunks = (file: Buffer) => {
  const chunks: Array<{ readonly type: string; readonly body: Buffer }> = []
  for (let offset = 8; offset < file.length;) {
    const length = file.readUInt32BE(offset)
    const named = file.subarray(offset + 4, offset + 8 + length)
    assert.strictEqual(crc32(named), file.readUInt32BE(offset + 8 + length))
    chunks.push({ type: named.toString("latin1", 0, 4), body: named.subarray(4) })
    offset += length + 12
  }
  return chunks
}
