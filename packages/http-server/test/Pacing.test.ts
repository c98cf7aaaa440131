import { assert, it } from "@effect/vitest"
import { BlobStore } from "@kinora/storage"
import { Array, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Pacing from "../src/middleware/pacing.ts"
import { ResponseWriter } from "../src/ResponseWriter.ts"
import * as Host from "./Host.ts"

/** Runs until the event loop has begun its next turn. */
const nextTurn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

/** Moves what two accounts move while both are active. */
const make = Effect.gen(function*() {
  const pacing = yield* Pacing.make
  let turn = 0
  const moved = new Map<string, number>()
  pacing.record("a")
  pacing.record("b")
  return {
    /** Moves the bytes of a number of turns. */
    move: (account: string, name: string, turns: number) =>
      Effect.suspend(() => pacing.take(account, turns * Pacing.bytesPerTurn) ?? Effect.void).pipe(
        Effect.andThen(Effect.sync(() => moved.set(name, turn))),
        Effect.forkChild({ startImmediately: true })
      ),
    /** Waits until so many chunks have moved. Returns the turn of each. */
    awaitMoved: Effect.fnUntraced(function*(count: number) {
      for (; moved.size < count; turn++) {
        assert.isBelow(turn, 100)
        yield* nextTurn
      }
      return (name: string) => moved.get(name) ?? NaN
    })
  }
})

it.effect("moves the chunks of an account one after the other, each after as many turns as it takes", () =>
  Effect.gen(function*() {
    const { awaitMoved, move } = yield* make
    yield* move("a", "first", 0.5)
    yield* move("a", "second", 10)
    yield* move("a", "third", 1.5)
    const turnOf = yield* awaitMoved(3)
    assert.isAtLeast(turnOf("second") - turnOf("first"), 10)
    assert.isAtLeast(turnOf("third") - turnOf("second"), 2)
  }))

it.effect("delays no other account, and forgets a transfer that ends while it waits", () =>
  Effect.gen(function*() {
    const { awaitMoved, move } = yield* make
    yield* move("a", "first", 1)
    const ended = yield* move("a", "ended", 1000)
    yield* move("a", "waiting", 10)
    yield* move("b", "other", 1)
    yield* awaitMoved(2)
    yield* Fiber.interrupt(ended)
    const turnOf = yield* awaitMoved(3)
    assert.isBelow(turnOf("other"), turnOf("waiting"))
    assert.isNaN(turnOf("ended"))
  }))

it.effect("waits only if another account was active within the last second", () =>
  Effect.gen(function*() {
    const pacing = yield* Pacing.make
    const isFree = (account: string) => pacing.take(account, 1) === undefined
    assert.isTrue(isFree("a"))
    assert.isTrue(isFree("a"))
    assert.isFalse(isFree("b"))
    yield* TestClock.adjust("600 millis")
    assert.isFalse(isFree("b"))
    yield* TestClock.adjust("600 millis")
    assert.isTrue(isFree("b"))
    pacing.record("a")
    yield* TestClock.adjust("600 millis")
    assert.isFalse(isFree("b"))
    yield* TestClock.adjust("600 millis")
    assert.isTrue(isFree("b"))
  }))

const mebibyte = 1024 ** 2
const transfers = 8
/** The turns that the bytes of all transfers take. */
const pacedTurns = transfers * mebibyte / Pacing.bytesPerTurn

/** Returns how many turns of the event loop pass until so many of these effects, which run at the same time, are done. */
const turnsOf = <A, E, R>(transfer: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    let turns = 0
    const count = () => {
      turns++
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    yield* Effect.addFinalizer(() => Effect.sync(() => clearImmediate(next)))
    yield* Effect.replicateEffect(transfer, transfers, { concurrency: "unbounded", discard: true })
    return turns
  }).pipe(Effect.scoped)

/** Checks that transfers of an account take the turns of their bytes, but only after a request of another account. */
const assertPaced = <E, R>(
  send: Effect.Success<ReturnType<typeof Host.start>>,
  transfer: Effect.Effect<unknown, E, R>
) =>
  Effect.gen(function*() {
    assert.isBelow(yield* turnsOf(transfer), pacedTurns / 2)
    const { key } = yield* Host.openAccount({ email: "another@example.com" })
    assert.strictEqual((yield* send("GET", "/v1/generations", { key })).status, 200)
    assert.isAtLeast(yield* turnsOf(transfer), pacedTurns)
  })

/** Emits a result in chunks of 64 KiB, all at once. */
const emitAtOnce = Effect.updateService(BlobStore.BlobStore, (blobs) =>
  BlobStore.BlobStore.of({
    ...blobs,
    get: () => Stream.fromIterable(Array.makeBy(16, () => new Uint8Array(mebibyte / 16))).pipe(Stream.rechunk(1))
  }))

const options = { resultDownloadMultiple: 1000, downloadStreamsMax: transfers }

it.effect("paces downloads over a connection", () =>
  Effect.gen(function*() {
    let sent = 0
    const take = (bytes: Uint8Array) => {
      sent += bytes.length
      return undefined
    }
    const send = yield* Host.start(options).pipe(
      emitAtOnce,
      Effect.provideService(ResponseWriter, () => ({ head: () => {}, write: take, end: take, abort: () => {} }))
    )
    const { account, key } = yield* Host.openAccount()
    const { id } = yield* Host.addCompleted(account, new Uint8Array(mebibyte))
    yield* assertPaced(send, send("GET", `/v1/generations/${id}/content`, { key }))
    assert.strictEqual(sent, 2 * transfers * mebibyte)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("paces downloads that are streams", () =>
  Effect.gen(function*() {
    const send = yield* Host.start(options).pipe(emitAtOnce)
    const { account, key } = yield* Host.openAccount()
    const { id } = yield* Host.addCompleted(account, new Uint8Array(mebibyte))
    yield* assertPaced(
      send,
      Effect.map(
        send("GET", `/v1/generations/${id}/content`, { key }),
        ({ text }) => assert.strictEqual(text.length, mebibyte)
      )
    )
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("paces large bodies", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    const spaces = new Uint8Array(mebibyte / 16).fill(0x20)
    const body = () => ReadableStream.from(Array.makeBy(16, () => spaces))
    yield* assertPaced(
      send,
      Effect.suspend(() =>
        Effect.map(
          send("POST", "/v1/generations", { key, body: body() }),
          ({ status }) => assert.strictEqual(status, 400)
        )
      )
    )
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
