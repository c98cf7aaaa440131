import { assert, layer } from "@effect/vitest"
import { DatabaseTime, type UnitOfWork } from "@kinora/persistence"
import { SkewedClock } from "@kinora/testkit"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { layer as layerRateLimit, layerWith, RateLimit } from "../src/RateLimit.ts"
import { RateLimitStore } from "../src/RateLimitStore.ts"
import * as FailingStore from "./FailingStore.ts"
import { ofDatabases, type Traits } from "./Traits.ts"

/** The behaviour of `RateLimit` on every backend. */
export const suite = <E>(
  name: string,
  backend: Layer.Layer<RateLimitStore | UnitOfWork.UnitOfWork, E>,
  { transactions }: Traits = ofDatabases
) =>
  layer(layerRateLimit.pipe(Layer.provideMerge(backend)))(`RateLimit (${name})`, (it) => {
    for (const millis of [-120_000, 120_000]) {
      it.effect(`accepts exactly the limit when the clock of a host is off by ${millis} ms`, () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(30 * minute)
          const onHost = SkewedClock.onHost(DatabaseTime.DatabaseClock, millis)
          const right = yield* instance()
          const skewed = yield* onHost(instance())
          const request = { key: `skewed by ${millis}`, limit: 60 }
          for (const start of [30, 31]) {
            const verdicts = yield* Effect.forEach(
              Array.from({ length: 200 }, (_, index) => index),
              (index) => index % 2 === 0 ? right.hit(request) : onHost(skewed.hit(request)),
              { concurrency: "unbounded" }
            )
            assert.strictEqual(verdicts.filter(({ accepted }) => accepted).length, 60)
            assert.isTrue(verdicts.every(({ resetsAt }) => resetsAt.epochMilliseconds === (start + 1) * minute))
            yield* onHost(skewed.sweep(1000))
            // The host that remembers the full minute forgets it when the minute ends.
            yield* TestClock.adjust(minute - 1)
            assert.isFalse((yield* onHost(skewed.hit(request))).accepted)
            assert.isFalse((yield* right.peek(request)).accepted)
            yield* TestClock.adjust(1)
          }
          assert.isTrue((yield* onHost(skewed.peek(request))).accepted)
        }))
    }

    it.effect("does not count rejected hits that a process may reject without the store", () =>
      Effect.gen(function*() {
        const { hit } = yield* RateLimit
        assert.isTrue((yield* hit({ key: "refused by one", limit: 10, cost: 8 })).accepted)
        for (const cost of [3, 5, 11]) {
          assert.isFalse((yield* hit({ key: "refused by one", limit: 10, cost })).accepted)
        }
        assert.isTrue((yield* hit({ key: "refused by one", limit: 10, cost: 2 })).accepted)
        assert.isFalse((yield* hit({ key: "refused by one", limit: 10 })).accepted)
      }))

    it.effect("keeps a counter that was peeked for its time, within its minute, until this process hits its key", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(20 * minute + 30_000)
        const store = yield* RateLimitStore
        let reads = 0
        const { hit, peek } = yield* Effect.provideService(instance({ peekAge: "1 second" }), RateLimitStore, {
          ...store,
          read: (kind, keys) => Effect.suspend(() => (reads++, store.read(kind, keys)))
        })
        const other = yield* instance()
        const request = { key: "kept", limit: 5 }
        const remaining = Effect.map(peek(request), ({ at, remaining }) => [remaining, at.epochMilliseconds, reads])
        assert.deepStrictEqual(yield* remaining, [5, 20 * minute + 30_000, 1])
        yield* other.hit(request)
        yield* TestClock.adjust("999 millis")
        assert.deepStrictEqual(yield* remaining, [5, 20 * minute + 30_999, 1])
        yield* hit(request)
        assert.deepStrictEqual(yield* remaining, [3, 20 * minute + 30_999, 2])
        yield* other.hit(request)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* remaining, [2, 20 * minute + 31_999, 3])
        yield* TestClock.setTime(20 * minute + 59_900)
        assert.strictEqual((yield* peek(request)).remaining, 2)
        yield* TestClock.adjust("100 millis")
        assert.deepStrictEqual(yield* remaining, [5, 21 * minute, 5])
      }))

    it.effect("does not keep a counter that was peeked while this process hit its key", () =>
      Effect.gen(function*() {
        const store = yield* RateLimitStore
        const gate = yield* Deferred.make<void>()
        const { hit, peek } = yield* Effect.provideService(instance({ peekAge: "1 second" }), RateLimitStore, {
          ...store,
          read: (kind, keys) => Effect.tap(store.read(kind, keys), () => Deferred.await(gate))
        })
        const request = { key: "kept late", limit: 5 }
        const peeking = yield* Effect.forkChild(peek(request), { startImmediately: true })
        yield* hit(request)
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(peeking)
        assert.strictEqual((yield* peek(request)).remaining, 4)
      }))

    it.effect("counts all waiting hits in one call of the store, whatever their keys", () =>
      Effect.gen(function*() {
        const { gate, service, sets, started } = yield* gatedInstance({})
        const first = yield* Effect.forkChild(service.hit({ key: "first", limit: 1 }))
        yield* Deferred.await(started)
        const others = yield* Effect.forEach(
          Array.from({ length: 500 }, (_, index) => `folded ${index % 50}`),
          (key) => Effect.forkChild(service.hit({ key, limit: 5 }), { startImmediately: true })
        )
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(first)
        const verdicts = yield* Effect.forEach(others, Fiber.join)
        assert.strictEqual(verdicts.filter((verdict) => verdict.accepted).length, 250)
        assert.deepStrictEqual(sets, [1, 50])
      }))

    it.effect("rejects hits of a full minute without the store until the minute ends", () =>
      Effect.gen(function*() {
        const { gate, service, sets } = yield* gatedInstance({})
        yield* Deferred.succeed(gate, undefined)
        const hit = (limit: number, cost = 1) => service.hit({ key: "full", limit, cost })
        yield* hit(2, 2)
        for (const _ of [1, 2, 3]) assert.isFalse((yield* hit(2)).accepted)
        assert.strictEqual(sets.length, 1)
        // A higher limit needs the store, a lower one does not.
        assert.isTrue((yield* hit(3)).accepted)
        assert.isFalse((yield* hit(1)).accepted)
        assert.strictEqual(sets.length, 2)
        yield* TestClock.adjust("1 minute")
        assert.isTrue((yield* hit(2)).accepted)
        assert.strictEqual(sets.length, 3)
      }))

    it.effect("returns the same results if it remembers no full keys", () =>
      Effect.gen(function*() {
        const { gate, service, sets } = yield* gatedInstance({ fullKeysMax: 0 })
        yield* Deferred.succeed(gate, undefined)
        const accepted = yield* Effect.forEach(
          [1, 2, 3],
          () => Effect.map(service.hit({ key: "forgetful", limit: 1 }), (verdict) => verdict.accepted)
        )
        assert.deepStrictEqual(accepted, [true, false, false])
        assert.strictEqual(sets.length, 3)
      }))

    if (transactions) {
      it.effect("counts each hit once when the second statement of a set fails with a conflict", () =>
        Effect.gen(function*() {
          const failing = yield* FailingStore.make("conflict")
          const { hit, peek } = yield* Effect.provideService(instance(), RateLimitStore, failing.store)
          const first = yield* Effect.forkChild(hit({ key: "first conflict", limit: 1 }))
          yield* Deferred.await(failing.started)
          // Both wait for the first set, so they are one set of two statements.
          const fibers = yield* Effect.forEach(
            [5, 3],
            (cost) => Effect.forkChild(hit({ key: "conflict", limit: 100, cost }), { startImmediately: true })
          )
          yield* Deferred.succeed(failing.gate, undefined)
          yield* Fiber.join(first)
          const verdicts = yield* Effect.forEach(fibers, Fiber.join)
          assert.isTrue(verdicts.every((verdict) => verdict.accepted))
          assert.strictEqual((yield* peek({ key: "conflict", limit: 100 })).remaining, 92)
        }))
    }

    if (transactions) {
      it.effect("counts nothing and remembers no full minute when a set fails", () =>
        Effect.gen(function*() {
          const { gate, store } = yield* FailingStore.make("failed")
          yield* Deferred.succeed(gate, undefined)
          const { hit, hitAll } = yield* Effect.provideService(instance(), RateLimitStore, store)
          yield* hit({ key: "first failed", limit: 1 })
          const hits = [{ key: "failed", limit: 5, cost: 5 }, { key: "failed", limit: 8, cost: 3 }]
          assert.strictEqual((yield* Effect.flip(hitAll(hits))).reason, "failed")
          assert.isTrue((yield* hit(hits[0]!)).accepted)
          assert.isFalse((yield* hit({ key: "failed", limit: 5 })).accepted)
        }))
    }
  })

const minute = 60_000

/** Creates another process on the same store. */
const instance = (options: Parameters<typeof layerWith>[0] = {}) =>
  Effect.map(Layer.build(Layer.fresh(layerWith(options))), (context) => Context.get(context, RateLimit))

/** Creates a process whose store waits for a gate, and records the sizes of its sets. */
const gatedInstance = Effect.fnUntraced(function*(options: Parameters<typeof layerWith>[0]) {
  const store = yield* RateLimitStore
  const sets: Array<number> = []
  const started = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const service = yield* instance(options).pipe(
    Effect.provideService(RateLimitStore, {
      ...store,
      take: (kind, demands) => {
        sets.push(demands.length)
        return Deferred.succeed(started, undefined).pipe(
          Effect.andThen(Deferred.await(gate)),
          Effect.andThen(store.take(kind, demands))
        )
      }
    })
  )
  return { service, sets, started, gate }
})
