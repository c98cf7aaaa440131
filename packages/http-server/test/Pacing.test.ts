import { assert, it } from "@effect/vitest"
import { BlobStore } from "@kinora/storage"
import { Array, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Activity from "../src/middleware/activity.ts"
import { bytesPerTurn, Pacing } from "../src/middleware/pacing.ts"
import { ResponseWriter } from "../src/ResponseWriter.ts"
import * as Host from "./Host.ts"

/** Runs until the event loop has begun its next turn. */
const nextTurn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

const make = Effect.sync(() => {
  const pacing = new Pacing()
  const moved: Array<string> = []
  /** Moves a share of the bytes of a turn. */
  const move = (owner: string, name: string, share: number) =>
    Effect.suspend(() => pacing.take(owner, share * bytesPerTurn) ?? Effect.void).pipe(
      Effect.andThen(Effect.sync(() => moved.push(name))),
      Effect.forkChild({ startImmediately: true })
    )
  /** Returns the names of what moved since the last call. */
  const news = Effect.sync(() => moved.splice(0))
  return { move, news }
})

it.effect("moves as many bytes of an owner per turn of the event loop as fit, in order", () =>
  Effect.gen(function*() {
    const { move, news } = yield* make
    yield* move("a", "first", 0.625)
    yield* move("a", "second", 0.625)
    yield* move("a", "third", 0.375)
    yield* move("a", "fourth", 0.125)
    assert.deepStrictEqual(yield* news, ["first"])
    yield* nextTurn
    assert.deepStrictEqual(yield* news, ["second", "third"])
    yield* nextTurn
    assert.deepStrictEqual(yield* news, ["fourth"])
    yield* nextTurn
    yield* move("a", "later", 1)
    assert.deepStrictEqual(yield* news, ["later"])
  }))

it.effect("gives a larger chunk as many turns as it takes", () =>
  Effect.gen(function*() {
    const { move, news } = yield* make
    yield* move("a", "small", 0.25)
    yield* move("a", "large", 2.5)
    yield* move("a", "after", 0.75)
    assert.deepStrictEqual(yield* news, ["small"])
    yield* nextTurn
    assert.deepStrictEqual(yield* news, ["large"])
    yield* nextTurn
    assert.deepStrictEqual(yield* news, [])
    yield* nextTurn
    assert.deepStrictEqual(yield* news, [])
    yield* nextTurn
    assert.deepStrictEqual(yield* news, ["after"])
  }))

it.effect("delays no other owner, and forgets a transfer that ends while it waits", () =>
  Effect.gen(function*() {
    const { move, news } = yield* make
    yield* move("a", "first", 1)
    const ended = yield* move("a", "ended", 1)
    yield* move("a", "waiting", 1)
    yield* move("b", "other", 1)
    assert.deepStrictEqual(yield* news, ["first", "other"])
    yield* Fiber.interrupt(ended)
    yield* nextTurn
    assert.deepStrictEqual(yield* news, ["waiting"])
  }))

it.effect("an account has others while another one was active within the last second", () =>
  Effect.gen(function*() {
    const { hasOthers, record } = yield* Activity.make
    assert.isFalse(hasOthers("a"))
    record("a")
    record("a")
    assert.isFalse(hasOthers("a"))
    assert.isTrue(hasOthers("b"))
    yield* TestClock.adjust("600 millis")
    record("b")
    record("b")
    assert.isTrue(hasOthers("a"))
    assert.isTrue(hasOthers("b"))
    yield* TestClock.adjust("600 millis")
    assert.isTrue(hasOthers("a"))
    assert.isFalse(hasOthers("b"))
    record("a")
    yield* TestClock.adjust("600 millis")
    assert.isFalse(hasOthers("a"))
    assert.isTrue(hasOthers("b"))
  }))

/** Counts bytes until the scope closes. Returns the most that were counted between two turns of the event loop. */
const countPerTurn = Effect.gen(function*() {
  let most = 0
  let current = 0
  const begin = Effect.sync(() => {
    current = 0
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(nextTurn, begin)))
  return {
    count: (bytes: number) => {
      current += bytes
      most = Math.max(most, current)
    },
    most: () => most
  }
})

/** Counts a request of another account, as each of them does. */
const sendAsAnother = Effect.fnUntraced(function*(send: Effect.Success<ReturnType<typeof Host.start>>) {
  const { key } = yield* Host.openAccount({ email: "another@example.com" })
  assert.strictEqual((yield* send("GET", "/v1/generations", { key })).status, 200)
})

const transfers = 8
const mebibyte = 1024 ** 2

it.effect("sends 32 KiB of an account per turn of the event loop beside another account", () =>
  Effect.gen(function*() {
    const { count, most } = yield* countPerTurn
    let sent = 0
    const take = (bytes: Uint8Array) => {
      count(bytes.length)
      sent += bytes.length
      return undefined
    }
    const send = yield* Host.start().pipe(
      Effect.updateService(BlobStore.BlobStore, (blobs) =>
        BlobStore.BlobStore.of({
          ...blobs,
          get: () => Stream.fromIterable(Array.makeBy(16, () => new Uint8Array(mebibyte / 16))).pipe(Stream.rechunk(1))
        })),
      Effect.provideService(ResponseWriter, () => ({ head: () => {}, write: take, end: take, abort: () => {} }))
    )
    const { account, key } = yield* Host.openAccount()
    const { id } = yield* Host.addCompleted(account, new Uint8Array(mebibyte))
    yield* sendAsAnother(send)
    const download = send("GET", `/v1/generations/${id}/content`, { key })
    yield* Effect.replicateEffect(download, transfers, { concurrency: "unbounded", discard: true })
    assert.strictEqual(sent, transfers * mebibyte)
    // A chunk has 64 KiB, and a turn can begin between the two that are counted.
    assert.isAtMost(most(), 2 * 64 * 1024)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("receives 32 KiB of an account per turn of the event loop beside another account", () =>
  Effect.gen(function*() {
    const { count, most } = yield* countPerTurn
    const chunk = new Uint8Array(64 * 1024).fill(0x20)
    const chunks = 16
    const bodyOf = () => {
      let left = chunks
      return new ReadableStream<Uint8Array>({
        pull: (controller) => {
          count(chunk.length)
          controller.enqueue(chunk)
          if (--left === 0) controller.close()
        }
      })
    }
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    yield* sendAsAnother(send)
    const create = Effect.suspend(() => send("POST", "/v1/generations", { key, body: bodyOf() }))
    const responses = yield* Effect.replicateEffect(create, transfers, { concurrency: "unbounded" })
    assert.deepStrictEqual(new Set(responses.map(({ status }) => status)), new Set([400]))
    // Each stream makes two chunks before the first is taken, and a turn can begin between the two that are counted.
    assert.isAtMost(most(), (2 * transfers + 2) * chunk.length)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
