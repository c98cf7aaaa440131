/** Tests of fixed windows of any length. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Data, DateTime, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Hit, layer as layerRateLimit, RateLimit } from "../../RateLimit.ts"
import { RateLimitStore } from "../../RateLimitStore.ts"
import * as Counter from "../counter.ts"
import { processOf } from "./processes.ts"
import type { Register, Traits } from "./tests.ts"

class Undone extends Data.TaggedError("Undone")<{}> {}

/** Registers tests of their lengths. */
export const windowTests = (test: Register): void => {
  for (const window of ["1 second", "10 seconds", "90 minutes", "31 days"] as const) {
    test(`of ${window} accept exactly the limit of hits of several processes, and begin anew at their end`, () =>
      Effect.gen(function*() {
        const length = Duration.toMillis(Duration.fromInputUnsafe(window))
        yield* TestClock.setTime(600 * length + 1)
        const processes = yield* Effect.forEach(Array.from({ length: 3 }), () => instance())
        const hit: Hit = { key: `exact ${window}`, limit: 20, window }
        for (const end of [601, 602]) {
          const verdicts = yield* Effect.forEach(
            Array.from({ length: 100 }, (_, index) => processes[index % 3]!),
            (process, index) => process.hit({ ...hit, cost: 1 + index % 2 }),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(
            verdicts.reduce((used, { accepted }, index) => accepted ? used + 1 + index % 2 : used, 0),
            20
          )
          assert.isTrue(verdicts.every(({ resetsAt }) => DateTime.toEpochMillis(resetsAt) === end * length))
          yield* TestClock.setTime(end * length - 1)
          for (const process of processes) assert.isFalse((yield* process.hit(hit)).accepted)
          yield* TestClock.adjust("1 millis")
        }
      }))
  }

  test("count each length apart, and that of a minute with the default", () =>
    Effect.gen(function*() {
      const { hit, hitAll, peek } = yield* RateLimit
      const request = { key: "apart", limit: 9 }
      const windows = [undefined, "10 seconds", "1 minute", 10_000, "20 seconds"] as const
      const verdicts = yield* hitAll(windows.map((window, index) => ({ ...request, window, cost: index + 1 })))
      assert.deepStrictEqual(verdicts.map(({ accepted, remaining }) => [accepted, remaining]), [
        [true, 8],
        [true, 7],
        [true, 5],
        [true, 3],
        [true, 4]
      ])
      for (const [index, remaining] of [5, 3, 5, 3, 4].entries()) {
        const hit = { ...request, window: windows[index] }
        assert.strictEqual((yield* peek(hit)).remaining, remaining)
      }
      yield* TestClock.adjust("10 seconds")
      const again = yield* Effect.forEach(windows, (window) => hit({ ...request, window }))
      assert.deepStrictEqual(again.map(({ remaining }) => remaining), [4, 8, 3, 7, 3])
    }))
}

/** Registers tests of units of work and sweeps. */
export const windowUnitTests = (test: Register, { sweeps, transactions }: Traits): void => {
  if (transactions) {
    test("are counted together or not at all by a call with several lengths", () =>
      Effect.gen(function*() {
        const { hitAll, peek } = yield* RateLimit
        const { atomically } = yield* UnitOfWork
        const hits = [{ key: "together", limit: 2 }, { key: "together", limit: 2, window: "10 seconds" as const }]
        const undone = Effect.andThen(hitAll(hits), Effect.fail(new Undone())).pipe(atomically)
        assert.instanceOf(yield* Effect.flip(undone), Undone)
        const remaining = Effect.forEach(hits, (hit) => Effect.map(peek(hit), ({ remaining }) => remaining))
        assert.deepStrictEqual(yield* remaining, [2, 2])
        yield* hitAll(hits)
        assert.deepStrictEqual(yield* remaining, [1, 1])
      }))
  }

  if (sweeps) {
    test("are deleted when they have ended, and minutes with them", () =>
      Effect.gen(function*() {
        const { hit, peek, sweep } = yield* RateLimit
        yield* TestClock.setTime(5_000_000_000)
        while ((yield* sweep(1000)) > 0);
        const request: Hit = { key: "past", limit: 2, window: "30 seconds" }
        yield* hit({ key: "past", limit: 1 })
        yield* Effect.forEach(["1", "2", "3"], (key) => hit({ ...request, key }))
        assert.strictEqual(yield* sweep(10), 0)
        yield* TestClock.adjust("1 minute")
        yield* hit({ ...request, key: "3" })
        assert.strictEqual(yield* sweep(2), 2)
        assert.strictEqual(yield* sweep(2), 1)
        assert.strictEqual(yield* sweep(2), 0)
        assert.strictEqual((yield* peek({ ...request, key: "3" })).remaining, 1)
      }))
  }
}

/** Registers tests of amounts that are added, with which a process gives back what it took in advance. */
export const addedTests = (test: Register): void => {
  for (
    const [kind, window] of [["minute", Counter.windows.minute], ["window", { length: 10_000, parts: 1 }]] as const
  ) {
    test(`of the kind ${kind} fall by an amount that is given back, not below 0, and not after they have ended`, () =>
      Effect.gen(function*() {
        const { add, read, take } = yield* RateLimitStore
        const key = `given back ${kind}`
        const used = Effect.map(read(kind, [{ key, window }]), (counters) => counters.map(({ used }) => used))
        const takeFive = Effect.map(take(kind, [{ key, window, cost: 1, limit: 9, takes: 5 }]), ([grant]) => grant!)
        const { period } = yield* takeFive
        yield* add(kind, [{ key, period, amount: -3 }])
        assert.deepStrictEqual(yield* used, [2])
        yield* add(kind, [{ key, period, amount: -100 }])
        assert.deepStrictEqual(yield* used, [0])
        yield* TestClock.adjust(window.length)
        assert.strictEqual((yield* takeFive).used, 5)
        yield* add(kind, [{ key, period, amount: -3 }])
        assert.deepStrictEqual(yield* used, [5])
      }))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Creates another process on the same store. */
const instance = () => processOf(RateLimit, layerRateLimit)
