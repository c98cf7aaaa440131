import { assert, describe, it } from "@effect/vitest"
import { Generations } from "@kinora/generations"
import { Deferred, Duration, Effect, Fiber, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Share } from "../src/middleware/share.ts"
import * as JsonStructure from "../src/wire/jsonStructure.ts"
import * as Pieces from "../src/wire/pieces.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }

describe("the weight of a JSON text", () => {
  const stringBytesMax = 2_000_000
  const weigh = (text: string, weightMax: number) =>
    Effect.result(JsonStructure.measure(new TextEncoder().encode(text), { weightMax, stringBytesMax }))
  const accepted: Array<JsonStructure.LongString> = []

  it.effect("is the number of its bytes", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* weigh("{\"a\": [1, 2]}", 13), Result.succeed(accepted))
      assert.deepStrictEqual(yield* weigh("{\"a\": [1, 2]}", 12), Result.fail("TooComplex"))
    }))

  it.effect("counts at most 256 for each string", () =>
    Effect.gen(function*() {
      const text = `["${"a".repeat(10_000)}"]`
      assert.deepStrictEqual(yield* weigh(text, 259), Result.succeed(accepted))
      assert.deepStrictEqual(yield* weigh(text, 258), Result.fail("TooComplex"))
      const long = `["${"a".repeat(1_000_000)}"]`
      assert.deepStrictEqual(yield* weigh(long, 259), Result.succeed([{ start: 2, end: 1_000_002 }]))
      assert.deepStrictEqual(yield* weigh(long, 258), Result.fail("TooComplex"))
    }))

  it.effect("counts names in full", () =>
    Effect.gen(function*() {
      const text = `{"${"a".repeat(20_000)}" :"${"b".repeat(20_000)}"}`
      const value = { start: 20_006, end: 40_006 }
      assert.deepStrictEqual(yield* weigh(text, 20_263), Result.succeed([value]))
      assert.deepStrictEqual(yield* weigh(text, 20_262), Result.fail("TooComplex"))
    }))

  it.effect("does not include strings that are too long", () =>
    Effect.gen(function*() {
      const text = (length: number, end: string) => `["${"a".repeat(length)}${end}`
      const longest = { start: 2, end: 2 + stringBytesMax }
      assert.deepStrictEqual(yield* weigh(text(stringBytesMax, "\"]"), 1000), Result.succeed([longest]))
      assert.deepStrictEqual(yield* weigh(text(stringBytesMax + 1, "\"]"), 1000), Result.fail("LongString"))
      assert.deepStrictEqual(yield* weigh(text(stringBytesMax * 2, ""), 1000), Result.fail("LongString"))
    }))

  it.effect("does not end a string at an escaped quote, and counts the quote", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* weigh(`["\\"[[[[\\\\"]`, 13), Result.succeed(accepted))
      assert.deepStrictEqual(yield* weigh(`["${"\\\"".repeat(1000)}"]`, 1000), Result.fail("TooComplex"))
      // Two backslashes escape each other, so the quote after them ends the string.
      assert.deepStrictEqual(yield* weigh(`["\\\\",${"1,".repeat(500)}1]`, 1000), Result.fail("TooComplex"))
      assert.deepStrictEqual(yield* weigh(`["\\\\\\",${"1,".repeat(500)}1"]`, 1000), Result.succeed(accepted))
    }))

  it.effect("rejects deep nesting, and leaves invalid JSON to the parser", () =>
    Effect.gen(function*() {
      const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
      assert.deepStrictEqual(yield* weigh(nested(JsonStructure.depthMax), 1000), Result.succeed(accepted))
      assert.deepStrictEqual(yield* weigh(nested(JsonStructure.depthMax + 1), 1000), Result.fail("TooComplex"))
      for (const text of ["", "]]]]"]) assert.deepStrictEqual(yield* weigh(text, 1000), Result.succeed(accepted), text)
      for (const text of ["\"", "[\"\\", "\\\"", "{\"a"]) {
        assert.deepStrictEqual(yield* weigh(text, 1000), Result.fail("Malformed"), text)
      }
    }))
})

it.effect("shares a bounded amount, of which one owner gets a part", () =>
  Effect.gen(function*() {
    const share = new Share(100, 2, Duration.zero)
    const [a, b, c] = [share.holding("a"), share.holding("b"), share.holding("c")]
    assert.isTrue(yield* a.take(30))
    assert.isTrue(yield* a.take(20))
    assert.isFalse(yield* a.take(1))
    assert.isTrue(yield* b.take(40))
    assert.isFalse(yield* c.take(11))
    b.giveBack()
    assert.isTrue(yield* c.take(11))
    a.giveBack()
    // The first body of an owner can exceed its part.
    assert.isTrue(yield* a.take(89))
    assert.isFalse(yield* b.take(1))
  }))

it.effect("makes a take wait until it fits, while others pass an owner that has its part", () =>
  Effect.gen(function*() {
    const share = new Share(100, 2, Duration.seconds(5))
    const [first, second, other] = [share.holding("a"), share.holding("a"), share.holding("b")]
    assert.isTrue(yield* first.take(50))
    const waiting = yield* Effect.forkChild(second.take(10), { startImmediately: true })
    assert.isTrue(yield* other.take(50))
    other.giveBack()
    assert.isUndefined(waiting.pollUnsafe())
    first.giveBack()
    assert.isTrue(yield* Fiber.join(waiting))
    // The interrupted take leaves nothing behind, and the late one does not wait longer.
    const interrupted = yield* Effect.forkChild(first.take(45), { startImmediately: true })
    yield* Fiber.interrupt(interrupted)
    const late = yield* Effect.forkChild(first.take(45), { startImmediately: true })
    yield* TestClock.adjust("5 seconds")
    assert.isFalse(yield* Fiber.join(late))
    second.giveBack()
    assert.isTrue(yield* other.take(100))
  }))

it.effect("rejects a body with more structure than any request needs, at both endpoints", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ bodyStructureMax: 1000 })
    const { account, key } = yield* Host.openAccount()
    for (const path of ["/v1/generations", "/v1/images/generations"]) {
      const answer = yield* send("POST", path, { key, body: { ...body, more: Array(600).fill(1) } })
      const { details } = errorOf(answer, "invalid_request")
      const [issue] = details["issues"] as ReadonlyArray<{ readonly message: string }>
      assert.include(issue?.message, "at most 1000 bytes")
    }
    assert.deepStrictEqual(yield* Host.balances(account), { credits: 100, quotaUsed: {} })
    // Every spelling of the media type is weighed if the body is parsed as JSON.
    const heavy = JSON.stringify({ ...body, more: Array(600).fill(1) })
    for (const type of ["application/json\t; charset=utf-8", "Application/JSON", "\u00a0application/json"]) {
      const headers = { "content-type": type }
      const { details } = errorOf(
        yield* send("POST", "/v1/images/generations", { key, body: heavy, headers }),
        "invalid_request"
      )
      const [issue] = details["issues"] as ReadonlyArray<{ readonly message: string }>
      assert.include(issue?.message, "at most 1000 bytes", type)
    }
    const long = { ...body, params: { prompt: "a".repeat(4000) } }
    assert.strictEqual((yield* send("POST", "/v1/generations", { key, body: long })).status, 201)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects a body with a longer string than any request needs, at both endpoints", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ bodyStringBytesMax: 1000 })
    const { key } = yield* Host.openAccount()
    for (const path of ["/v1/generations", "/v1/images/generations"]) {
      const long = { ...body, params: { prompt: "a".repeat(1001) } }
      const answer = yield* send("POST", path, { key, body: long })
      assert.include(errorOf(answer, "payload_too_large").message, "at most 1000 bytes")
    }
    const longest = { ...body, params: { prompt: "a".repeat(1000) } }
    assert.strictEqual((yield* send("POST", "/v1/generations", { key, body: longest })).status, 201)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("handles bodies that are parsed in pieces like others", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    const long = "A".repeat(3 * Pieces.pieceMax)
    const image = (data: string) => ({ ...body, params: { prompt: "a lake", images: [{ data }] } })
    const post = (text: string) => send("POST", "/v1/generations", { key, body: text })
    const valid = JSON.stringify({ ...image(long), model: "remix-1" })
    assert.include(errorOf(yield* post(valid), "invalid_image").message, "not PNG, JPEG or WebP")
    const { details } = errorOf(yield* post(valid.slice(0, -1)), "invalid_request")
    assert.deepStrictEqual(details["issues"], [{ path: "", message: "must be valid JSON" }])
    const unknown = errorOf(yield* post(valid.replace("images", "pictures")), "invalid_request")
    assert.deepStrictEqual(unknown.details["issues"], [{ path: "params.pictures", message: "is not a known property" }])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("does not count the time in which other requests run between the pieces of a body", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    const data = "A".repeat(20 * Pieces.pieceMax)
    const text = JSON.stringify({ ...body, model: "remix-1", params: { prompt: "a lake", images: [{ data }] } })
    const request = yield* Effect.forkChild(send("POST", "/v1/generations", { key, body: text }))
    let seconds = 0
    for (; request.pollUnsafe() === undefined; seconds++) yield* TestClock.adjust("1 second")
    assert.isAbove(seconds, 10)
    errorOf(yield* Fiber.join(request), "invalid_image")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("responds with 503 while the memory for bodies is used up", () =>
  Effect.gen(function*() {
    const generations = yield* Generations.Generations
    const entered = yield* Deferred.make<void>()
    const goOn = yield* Deferred.make<void>()
    const send = yield* Host.start({ bodiesBytesMax: 3000, creatingBodyBytesMax: 2500 }).pipe(
      Effect.provideService(Generations.Generations, {
        ...generations,
        create: (command) =>
          Effect.andThen(
            Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(goOn)),
            generations.create(command)
          )
      })
    )
    const { key } = yield* Host.openAccount()
    const text = JSON.stringify({ ...body, params: { prompt: "a".repeat(1900) } })
    const headers = { "content-length": String(text.length) }
    const first = yield* Effect.forkChild(send("POST", "/v1/generations", { key, body: text, headers }))
    yield* Deferred.await(entered)
    const waiting = yield* Effect.forkChild(send("POST", "/v1/generations", { key, body: text, headers }))
    yield* TestClock.adjust("5 seconds")
    const second = yield* Fiber.join(waiting)
    errorOf(second, "unavailable")
    assert.strictEqual(second.headers["retry-after"], "1")
    assert.strictEqual(second.headers["retry-after-ms"], "1000")
    yield* Deferred.succeed(goOn, undefined)
    assert.strictEqual((yield* Fiber.join(first)).status, 201)
    // Everything is given back.
    for (let n = 0; n < 3; n++) {
      assert.strictEqual((yield* send("POST", "/v1/generations", { key, body: text })).status, 200)
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("counts the bytes of a body that have arrived, not those that its length declares", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ bodiesBytesMax: 1000 })
    const { key } = yield* Host.openAccount()
    const headers = { "content-length": String(40 * 1024 ** 2) }
    const answer = yield* send("POST", "/v1/generations", { key, body: JSON.stringify(body), headers })
    assert.strictEqual(answer.status, 201, answer.text)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

const json = "application/json"
const png = "image/png"
const form = "multipart/form-data; boundary=x"

it.effect("responds with 408 to bodies that stall, and gives their memory back", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ bodiesBytesMax: 4000 })
    const { key } = yield* Host.openAccount()
    const slow = yield* Effect.forEach(
      [
        ["/v1/generations", json],
        ["/v1/images/generations", json],
        ["/v1/uploads", png],
        ["/v1/uploads", form]
      ] as const,
      ([path, type]) =>
        Effect.forkChild(send("POST", path, { key, body: stalled(), headers: { "content-type": type } }))
    )
    yield* TestClock.adjust("10 seconds")
    assert.isTrue(slow.every((answer) => answer.pollUnsafe() === undefined))
    yield* TestClock.adjust("1 second")
    for (const fiber of slow) {
      const answer = yield* Fiber.join(fiber)
      errorOf(answer, "request_timeout")
      assert.strictEqual(answer.headers["connection"], "close")
    }
    const large = JSON.stringify(body).padEnd(3500)
    assert.strictEqual((yield* send("POST", "/v1/generations", { key, body: large })).status, 201)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("responds with 408 to JSON that takes too long, and continues uploads as long as they are fast", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ bodyStallMax: Duration.hours(1) })
    const { key } = yield* Host.openAccount()
    const post = (path: string, type: string) =>
      Effect.forkChild(send("POST", path, { key, body: stalled(), headers: { "content-type": type } }))
    const [creation, upload] = [yield* post("/v1/generations", json), yield* post("/v1/uploads", png)]
    yield* TestClock.adjust("30 seconds")
    assert.isUndefined(creation.pollUnsafe())
    yield* TestClock.adjust("1 second")
    errorOf(yield* Fiber.join(creation), "request_timeout")
    yield* TestClock.adjust("30 seconds")
    assert.isUndefined(upload.pollUnsafe())
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

/** A body that sends one byte and never ends. */
const stalled = () => Stream.toReadableStream(Stream.concat(Stream.make(new Uint8Array(1)), Stream.never))
