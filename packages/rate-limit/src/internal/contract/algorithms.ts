/** Tests of sliding windows and token buckets. */
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { type Hit, layer as layerRateLimit, RateLimit, type Verdict } from "../../RateLimit.ts"
import { processOf } from "./processes.ts"
import type { Register, Traits } from "./tests.ts"

/** Registers tests of what both have in common. */
export const bothAlgorithmsTests = (test: Register, { sweeps }: Traits): void => {
  for (const algorithm of ["slidingWindow", "tokenBucket"] as const) {
    test(`accept exactly the limit of concurrent hits of several processes (${algorithm})`, () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(1_000_000_000)
        const processes = yield* Effect.forEach([1, 2, 3], () => instance())
        const hit: Hit = { key: "exact", limit: 100, window: "10 seconds", algorithm }
        const verdicts = yield* Effect.forEach(
          Array.from({ length: 300 }, (_, index) => 1 + index % 3),
          (cost, index) =>
            Effect.map(processes[index % 3]!.hit({ ...hit, cost }), ({ accepted }) => accepted ? cost : 0),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(verdicts.reduce((sum, cost) => sum + cost, 0), 100)
      }))

    test(`count nothing of a peek, and apply the limit of each call (${algorithm})`, () =>
      Effect.gen(function*() {
        const { hit, peek } = yield* RateLimit
        const request: Hit = { key: "peek", limit: 5, window: "10 seconds", algorithm }
        const peeked = (hit: Hit) => Effect.map(peek(hit), ({ accepted, remaining }) => [accepted, remaining])
        assert.deepStrictEqual(yield* peeked(request), [true, 5])
        yield* hit({ ...request, cost: 4 })
        const both = yield* Effect.all([peeked(request), peeked({ ...request, limit: 9, cost: 6 })], {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(both, [[true, 1], [false, 5]])
        assert.deepStrictEqual(yield* peeked({ ...request, limit: 3 }), [false, 0])
        assert.deepStrictEqual(yield* peeked({ ...request, algorithm: "fixedWindow" }), [true, 5])
      }))

    if (sweeps) {
      test(`are deleted when they no longer count (${algorithm})`, () =>
        Effect.gen(function*() {
          const { hit, peek, sweep } = yield* RateLimit
          yield* TestClock.setTime(3_000_000_000)
          while ((yield* sweep(1000)) > 0);
          const request: Hit = { key: "past", limit: 2, window: "10 seconds", algorithm }
          yield* Effect.forEach(["1", "2", "3"], (key) => hit({ ...request, key }))
          yield* TestClock.adjust("10 seconds")
          assert.strictEqual(yield* sweep(10), 0)
          yield* hit({ ...request, key: "3" })
          yield* TestClock.adjust("10 seconds")
          assert.strictEqual(yield* sweep(10), 2)
          assert.strictEqual((yield* peek({ ...request, key: "3", cost: 2 })).accepted, algorithm === "tokenBucket")
        }))
    }
  }
}

/** Registers tests of each. */
export const algorithmTests = (test: Register): void => {
  test("have at most the limit of a sliding window in every interval of its length", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(4_000_009_999)
      const { hit, peek } = yield* RateLimit
      const request: Hit = { key: "sliding", limit: 10, window: "10 seconds", algorithm: "slidingWindow" }
      const first = yield* hit({ ...request, cost: 4 })
      assert.deepStrictEqual(timesOf(first), [10_001, 0])
      yield* TestClock.adjust("3 seconds")
      const second = yield* hit({ ...request, cost: 6 })
      assert.deepStrictEqual([second.remaining, ...timesOf(second)], [0, 10_001, 10_001])
      yield* TestClock.adjust("7 seconds")
      assert.isFalse((yield* hit(request)).accepted)
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(
        [(yield* hit({ ...request, cost: 5 })).accepted, (yield* hit({ ...request, cost: 4 })).accepted],
        [false, true]
      )
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* peek(request)).remaining, 10)
    }))

  test("fill a token bucket evenly up to its limit", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(5_000_000_123)
      const { hit } = yield* RateLimit
      const request: Hit = { key: "bucket", limit: 3, window: "10 seconds", algorithm: "tokenBucket" }
      const verdicts = yield* Effect.forEach([1, 2, 3, 4], () => hit(request))
      assert.deepStrictEqual(verdicts.map((verdict) => [verdict.accepted, verdict.remaining, ...timesOf(verdict)]), [
        [true, 2, 3_334, 0],
        [true, 1, 6_667, 0],
        [true, 0, 10_000, 3_334],
        [false, 0, 10_000, 3_334]
      ])
      assert.deepStrictEqual(timesOf(yield* hit({ ...request, cost: 2 })), [10_000, 6_667])
      assert.deepStrictEqual(timesOf(yield* hit({ ...request, cost: 4 })), [10_000, 10_000])
      yield* TestClock.adjust("3333 millis")
      assert.isFalse((yield* hit(request)).accepted)
      yield* TestClock.adjust("1 millis")
      assert.isTrue((yield* hit(request)).accepted)
      yield* TestClock.adjust("1 hour")
      assert.isFalse((yield* hit({ ...request, cost: 4 })).accepted)
      assert.isTrue((yield* hit({ ...request, cost: 3 })).accepted)
    }))

  test("fill a token bucket that is used up at the rate of a hit with a higher limit", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(6_000_000_000)
      const { hit, peek } = yield* RateLimit
      const request: Hit = { key: "raised", limit: 1, window: "10 seconds", algorithm: "tokenBucket" }
      assert.isTrue((yield* hit(request)).accepted)
      assert.isFalse((yield* hit(request)).accepted)
      yield* TestClock.adjust("5 seconds")
      assert.isFalse((yield* hit(request)).accepted)
      const raised: Hit = { ...request, limit: 3, cost: 3 }
      assert.isTrue((yield* peek(raised)).accepted)
      assert.isTrue((yield* hit(raised)).accepted)
    }))
}

/** Registers tests of large and mixed hits. */
export const mixedAlgorithmTests = (test: Register): void => {
  test("have no time at which a cost above the limit fits", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(7_000_000_000)
      const { hit } = yield* RateLimit
      for (const algorithm of ["slidingWindow", "tokenBucket"] as const) {
        const request: Hit = { key: "never", limit: 3, cost: 4, window: "10 seconds", algorithm }
        assert.deepStrictEqual(timesOf(yield* hit(request)), [0, 0])
        yield* hit({ ...request, cost: 3 })
        const [resetsAt, retryAt] = timesOf(yield* hit(request))
        assert.strictEqual(retryAt, resetsAt)
      }
    }))

  test("are counted with windows in one call, in order", () =>
    Effect.gen(function*() {
      const { hitAll } = yield* RateLimit
      const request = { key: "mixed", limit: 3, cost: 2 }
      const hits: ReadonlyArray<Hit> = [
        { ...request, algorithm: "tokenBucket" },
        request,
        { ...request, algorithm: "slidingWindow" },
        { ...request, window: "2 minutes" },
        { ...request, algorithm: "tokenBucket" },
        { ...request, cost: 1, algorithm: "slidingWindow" }
      ]
      const results = Effect.map(hitAll(hits), (verdicts) => verdicts.map(({ accepted }) => accepted))
      assert.deepStrictEqual(yield* results, [true, true, true, true, false, true])
      assert.deepStrictEqual(yield* results, hits.map(() => false))
    }))

  test("reject a token bucket whose numbers would not be exact", () =>
    Effect.gen(function*() {
      const { hit } = yield* RateLimit
      const request: Hit = { key: "large", limit: 3_400_000, window: "31 days", algorithm: "tokenBucket" }
      const exit = yield* Effect.exit(hit(request))
      assert.match(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", /TypeError: A token bucket of 3400000/)
      assert.isTrue((yield* hit({ ...request, limit: 3_300_000, cost: 3_300_000 })).accepted)
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Creates another process on the same store. */
const instance = () => processOf(RateLimit, layerRateLimit)

/** The times of a result, in milliseconds after the hit. */
const timesOf = ({ at, resetsAt, retryAt }: Verdict) => [
  resetsAt.epochMilliseconds - at.epochMilliseconds,
  retryAt.epochMilliseconds - at.epochMilliseconds
]
