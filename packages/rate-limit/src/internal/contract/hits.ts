/** Tests of limits per minute. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Data, DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Hit, layer as layerRateLimit, RateLimit, type Verdict } from "../../RateLimit.ts"
import { processOf } from "./processes.ts"
import type { Register, Traits } from "./tests.ts"

class Undone extends Data.TaggedError("Undone")<{}> {}

/** Registers tests of the limit and the minute. */
export const exactHitTests = (test: Register): void => {
  test("accepts exactly the limit of many concurrent hits of several processes", () =>
    Effect.gen(function*() {
      const processes = yield* Effect.forEach(Array.from({ length: 4 }), () => instance())
      const verdicts = yield* Effect.forEach(
        Array.from({ length: 1000 }, (_, index) => processes[index % 4]!),
        ({ hit }) => hit({ key: "exact", limit: 100 }),
        { concurrency: "unbounded" }
      )
      const accepted = verdicts.filter((verdict) => verdict.accepted)
      assert.strictEqual(accepted.length, 100)
      // Each has a different number, so each was counted separately.
      assert.deepStrictEqual(
        accepted.map((verdict) => verdict.remaining).toSorted((a, b) => a - b),
        Array.from({ length: 100 }, (_, index) => index)
      )
    }))

  test("accepts exactly the limit when hits have different costs", () =>
    Effect.gen(function*() {
      const processes = yield* Effect.forEach(Array.from({ length: 4 }), () => instance())
      const costs = Array.from({ length: 400 }, (_, index) => 1 + index % 3)
      const verdicts = yield* Effect.forEach(
        costs,
        (cost, index) => processes[index % 4]!.hit({ key: "costs", limit: 100, cost }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(sum(costs.filter((_, index) => verdicts[index]!.accepted)), 100)
    }))

  test("returns what is left and when the minute ends", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(10 * minute + 30_000)
      const { hit } = yield* RateLimit
      const verdict = yield* hit({ key: "headers", limit: 3 })
      const times = { at: 10 * minute + 30_000, resetsAt: 11 * minute }
      assert.deepStrictEqual(plain(verdict), { accepted: true, limit: 3, remaining: 2, ...times, retryAt: times.at })
      yield* hit({ key: "headers", limit: 3 })
      assert.strictEqual((yield* hit({ key: "headers", limit: 3 })).remaining, 0)
      assert.deepStrictEqual(
        plain(yield* hit({ key: "headers", limit: 3 })),
        { accepted: false, limit: 3, remaining: 0, ...times, retryAt: times.resetsAt }
      )
      // Without a statement, the time is measured.
      yield* TestClock.adjust("10 seconds")
      const refused = yield* hit({ key: "headers", limit: 3 })
      assert.deepStrictEqual(plain(refused), { ...plain(refused), ...times, at: 10 * minute + 40_000 })
    }))

  test("resets on the full minute, not a minute after the first hit", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(20 * minute + 59_999)
      const { hit } = yield* RateLimit
      assert.isTrue((yield* hit({ key: "boundary", limit: 1 })).accepted)
      assert.isFalse((yield* hit({ key: "boundary", limit: 1 })).accepted)
      yield* TestClock.adjust("1 millis")
      assert.isTrue((yield* hit({ key: "boundary", limit: 1 })).accepted)
      yield* TestClock.adjust("59999 millis")
      assert.isFalse((yield* hit({ key: "boundary", limit: 1 })).accepted)
      yield* TestClock.adjust("1 millis")
      assert.isTrue((yield* hit({ key: "boundary", limit: 1 })).accepted)
    }))
}

/** Registers tests of single hits and sets. */
export const hitTests = (test: Register): void => {
  test("does not count rejected hits", () =>
    Effect.gen(function*() {
      // Of another process each, since a process remembers what does not fit.
      const accepted = yield* Effect.forEach(
        [8, 3, 5, 11, 2, 1],
        (cost) => Effect.flatMap(instance(), ({ hit }) => hit({ key: "refused", limit: 10, cost }))
      )
      assert.deepStrictEqual(accepted.map((verdict) => verdict.accepted), [true, false, false, false, true, false])
    }))

  test("applies the limit of each call", () =>
    Effect.gen(function*() {
      const { hit } = yield* RateLimit
      const limits = [2, 2, 2, 3, 3, 1, 4]
      const verdicts = yield* Effect.forEach(limits, (limit) => hit({ key: "limits", limit }))
      assert.deepStrictEqual(
        verdicts.map((verdict) => verdict.accepted),
        [true, true, false, true, false, false, true]
      )
      assert.isFalse((yield* hit({ key: "nothing", limit: 0 })).accepted)
    }))

  test("peeks without counting", () =>
    Effect.gen(function*() {
      const { hit, peek } = yield* RateLimit
      assert.strictEqual((yield* peek({ key: "peek", limit: 2 })).remaining, 2)
      yield* hit({ key: "peek", limit: 2 })
      for (const _ of [1, 2, 3]) {
        const verdict = yield* peek({ key: "peek", limit: 2 })
        assert.isTrue(verdict.accepted)
        assert.strictEqual(verdict.remaining, 1)
      }
      yield* hit({ key: "peek", limit: 2 })
      assert.isFalse((yield* peek({ key: "peek", limit: 2 })).accepted)
      assert.isTrue((yield* peek({ key: "peek", limit: 3 })).accepted)
    }))

  test("counts several hits in order, each by its own limit", () =>
    Effect.gen(function*() {
      const { hitAll } = yield* RateLimit
      const hits: ReadonlyArray<Hit> = [
        { key: "all a", limit: 1 },
        { key: "all b", limit: 5, cost: 4 },
        { key: "all a", limit: 1 },
        { key: "all b", limit: 5, cost: 2 },
        { key: "all b", limit: 5 }
      ]
      const verdicts = yield* hitAll(hits)
      assert.deepStrictEqual(
        verdicts.map(({ accepted, remaining }) => [accepted, remaining]),
        [[true, 0], [true, 1], [false, 0], [false, 1], [true, 0]]
      )
      assert.deepStrictEqual((yield* hitAll(hits)).map((verdict) => verdict.accepted), hits.map(() => false))
      assert.deepStrictEqual(yield* hitAll([]), [])
    }))
}

/** Registers tests of units of work and sweeps. */
export const hitUnitTests = (test: Register, { sweeps, transactions }: Traits): void => {
  if (transactions) {
    test("does not count hits of a unit of work that rolls back", () =>
      Effect.gen(function*() {
        const { hit } = yield* RateLimit
        const { atomically } = yield* UnitOfWork
        const request = { key: "rolled back", limit: 1 }
        const undone = Effect.andThen(hit(request), Effect.fail(new Undone())).pipe(atomically)
        assert.instanceOf(yield* Effect.flip(undone), Undone)
        assert.isTrue((yield* hit(request)).accepted)
        assert.isFalse((yield* hit(request)).accepted)
      }))
  }

  if (sweeps) {
    test("deletes up to the limit of past minutes, and not the current one", () =>
      Effect.gen(function*() {
        const { hit, peek, sweep } = yield* RateLimit
        yield* TestClock.adjust("1 minute")
        while ((yield* sweep(1000)) > 0);
        yield* Effect.forEach(["1", "2", "3"], (key) => hit({ key: `past ${key}`, limit: 1 }))
        assert.strictEqual(yield* sweep(10), 0)
        yield* TestClock.adjust("1 minute")
        yield* hit({ key: "current", limit: 2 })
        assert.strictEqual(yield* sweep(2), 2)
        assert.strictEqual(yield* sweep(2), 1)
        assert.strictEqual((yield* peek({ key: "current", limit: 2 })).remaining, 1)
      }))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Creates another process on the same store. */
const instance = () => processOf(RateLimit, layerRateLimit)

const minute = 60_000

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)

const plain = (verdict: Verdict) => ({
  ...verdict,
  at: DateTime.toEpochMillis(verdict.at),
  resetsAt: DateTime.toEpochMillis(verdict.resetsAt),
  retryAt: DateTime.toEpochMillis(verdict.retryAt)
})
