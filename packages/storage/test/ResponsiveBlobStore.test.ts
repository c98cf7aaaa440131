import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { BlobError } from "../src/BlobError.ts"
import { BlobStore, layerMemory } from "../src/BlobStore.ts"
import { bytesOf, collect, streamOf } from "../src/internal/contract/bytes.ts"
import * as ResponsiveBlobStore from "../src/ResponsiveBlobStore.ts"
import { suite } from "../src/testing.ts"
import { chunkSuite } from "./chunkSuite.ts"

const onMemory = ResponsiveBlobStore.layer().pipe(Layer.provide(layerMemory))

suite("memory with a time limit", onMemory)
chunkSuite("memory with a time limit", onMemory)

const options = { bytesMax: 1_000_000, contentType: "video/mp4" }

/** A call that never ends, like one of the file system whose server does not respond. */
const hanging = Effect.uninterruptible(Effect.never)

/** Makes a store on memory in which some operations are replaced. */
const makeStore = Effect.fnUntraced(function*(script: Partial<BlobStore["Service"]>) {
  const memory = yield* BlobStore
  return yield* ResponsiveBlobStore.make({ ...memory, ...script }, { silenceMax: "10 seconds" })
}, Effect.provide(layerMemory))

/** Returns the error after exactly ten seconds. */
const expectExceeded = Effect.fnUntraced(function*<A, E>(operation: Effect.Effect<A, E | BlobError>) {
  const fiber = yield* Effect.forkChild(Effect.flip(operation), { startImmediately: true })
  yield* TestClock.adjust("9999 millis")
  assert.isUndefined(fiber.pollUnsafe())
  yield* TestClock.adjust("1 millis")
  return yield* Fiber.join(fiber)
})

const isUnavailable = (error: unknown, operation: string) => {
  assert.nestedInclude(error, { "reason._tag": "Unavailable", "reason.operation": operation })
}

describe("ResponsiveBlobStore", () => {
  it.effect("fails every operation of a store that hangs", () =>
    Effect.gen(function*() {
      const store = yield* makeStore({
        put: () => hanging,
        get: () => Stream.fromEffect(hanging),
        head: () => hanging,
        delete: () => hanging
      })
      isUnavailable(yield* expectExceeded(store.head("a")), "BlobStore.head")
      isUnavailable(yield* expectExceeded(store.delete(["a"])), "BlobStore.delete")
      isUnavailable(yield* expectExceeded(collect(store.get("a"))), "BlobStore.get")
      isUnavailable(yield* expectExceeded(store.put("a", Stream.empty, options)), "BlobStore.put")
    }))

  it.effect("fails a put that hangs between two chunks, and one that hangs after the last", () =>
    Effect.gen(function*() {
      const between = yield* makeStore({
        put: (_, stream) => Effect.andThen(Stream.runDrain(Stream.take(stream, 1)), hanging)
      })
      isUnavailable(yield* expectExceeded(between.put("a", streamOf(bytesOf(5_000)), options)), "BlobStore.put")
      const after = yield* makeStore({ put: (_, stream) => Effect.andThen(Stream.runDrain(stream), hanging) })
      isUnavailable(yield* expectExceeded(after.put("a", streamOf(bytesOf(5_000)), options)), "BlobStore.put")
    }))

  it.effect("waits for a slow source and for a slow reader", () =>
    Effect.gen(function*() {
      const store = yield* makeStore({})
      const anHour = TestClock.adjust("1 hour")
      const blob = yield* store.put("a", Stream.tap(streamOf(bytesOf(3_000)), () => anHour), options)
      assert.strictEqual(blob.bytes, 3_000)
      yield* store.put("long", Stream.succeed(bytesOf(200_000)), options)
      assert.deepStrictEqual(yield* collect(Stream.tap(store.get("long"), () => anHour)), bytesOf(200_000))
    }))

  it.effect("fails a read that hangs after its first chunk, also if its file cannot be closed", () =>
    Effect.gen(function*() {
      const store = yield* makeStore({
        get: () =>
          Stream.concat(
            Stream.succeed(bytesOf(10)),
            Stream.scoped(Stream.fromEffectDrain(Effect.andThen(Effect.addFinalizer(() => hanging), Effect.never)))
          )
      })
      const seen: Array<number> = []
      const reading = Stream.runForEach(store.get("a"), ({ length }) => Effect.sync(() => void seen.push(length)))
      const fiber = yield* Effect.forkChild(Effect.flip(reading), { startImmediately: true })
      yield* TestClock.adjust("20 seconds")
      isUnavailable(yield* Fiber.join(fiber), "BlobStore.get")
      assert.deepStrictEqual(seen, [10])
    }))

  it.effect("fails each of several calls after its own time, and none that makes progress", () =>
    Effect.gen(function*() {
      const gate = yield* Queue.unbounded<void>()
      const release = Effect.andThen(Queue.offer(gate, undefined), Effect.yieldNow)
      const store = yield* makeStore({
        get: () => Stream.mapEffect(streamOf(bytesOf(5_000)), (chunk) => Effect.as(Queue.take(gate), chunk)),
        head: () => hanging
      })
      const fork = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(effect, { startImmediately: true })
      const reading = yield* fork(collect(store.get("a")))
      const first = yield* fork(Effect.flip(store.head("a")))
      yield* TestClock.adjust("4 seconds")
      yield* release
      const second = yield* fork(Effect.flip(store.head("a")))
      yield* TestClock.adjust("5999 millis")
      yield* release
      assert.isUndefined(first.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      isUnavailable(yield* Fiber.join(first), "BlobStore.head")
      yield* TestClock.adjust("3999 millis")
      yield* release
      assert.isUndefined(second.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      isUnavailable(yield* Fiber.join(second), "BlobStore.head")
      // Less than ten seconds after its last chunk, and 20 after its start.
      yield* TestClock.adjust("6 seconds")
      yield* Effect.andThen(release, release)
      assert.deepStrictEqual(yield* Fiber.join(reading), bytesOf(5_000))
    }))

  it.effect("waits until an interrupted put has released its files, for ten seconds at most", () =>
    Effect.gen(function*() {
      const released = yield* Deferred.make<void>()
      const store = yield* makeStore({
        put: (key) => Effect.onInterrupt(Effect.never, () => key === "stuck" ? Effect.never : Deferred.await(released))
      })
      const interrupt = Effect.fnUntraced(function*(key: string) {
        const putting = yield* Effect.forkChild(store.put(key, Stream.empty, options), { startImmediately: true })
        return yield* Effect.forkChild(Fiber.interrupt(putting), { startImmediately: true })
      })
      const quick = yield* interrupt("quick")
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(quick.pollUnsafe())
      yield* Deferred.succeed(released, undefined)
      yield* Fiber.join(quick)

      const stuck = yield* interrupt("stuck")
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(stuck.pollUnsafe())
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(stuck)
    }))
})
