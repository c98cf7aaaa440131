import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import * as TestTime from "@kinora/testkit/TestTime"
import { Cause, Data, DateTime, Duration, Effect, Exit, Layer, Random } from "effect"
import { TestClock } from "effect/testing"
import { type Hit, layer as layerRateLimit, RateLimit } from "../src/RateLimit.ts"
import type { RateLimitStore } from "../src/RateLimitStore.ts"
import * as Process from "./Process.ts"
import { ofDatabases, type Traits } from "./Traits.ts"

class Undone extends Data.TaggedError("Undone")<{}> {}

/** The behaviour of fixed windows of any length on every backend. */
export const suite = <E>(
  name: string,
  backend: Layer.Layer<RateLimitStore | UnitOfWork.UnitOfWork, E>,
  { transactions, sweeps }: Traits = ofDatabases
) =>
  layer(layerRateLimit.pipe(Layer.provideMerge(backend)))(`Windows (${name})`, (it) => {
    for (const window of ["1 second", "10 seconds", "90 minutes", "31 days"] as const) {
      it.effect(`of ${window} accept exactly the limit of hits of several processes, and begin anew at their end`, () =>
        Effect.gen(function*() {
          const length = Duration.toMillis(Duration.fromInputUnsafe(window))
          yield* TestClock.setTime(600 * length + 1)
          const processes = yield* Effect.forEach(Array.from({ length: 3 }), () => Process.make())
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

    it.effect("count each length apart, and that of a minute with the default", () =>
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

    if (transactions) {
      it.effect("are counted together or not at all by a call with several lengths", () =>
        Effect.gen(function*() {
          const { hitAll, peek } = yield* RateLimit
          const { atomically } = yield* UnitOfWork.UnitOfWork
          const hits = [{ key: "together", limit: 2 }, { key: "together", limit: 2, window: "10 seconds" as const }]
          const undone = Effect.andThen(hitAll(hits), Effect.fail(new Undone())).pipe(atomically)
          assert.instanceOf(yield* Effect.flip(undone), Undone)
          const remaining = Effect.forEach(hits, (hit) => Effect.map(peek(hit), ({ remaining }) => remaining))
          assert.deepStrictEqual(yield* remaining, [2, 2])
          yield* hitAll(hits)
          assert.deepStrictEqual(yield* remaining, [1, 1])
        }))
    }

    it.effect("reject hits of a full window without the store until it ends", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(1_000_003_000)
        const { calls, hit } = yield* Process.make()
        const request: Hit = { key: "full", limit: 2, window: "10 seconds" }
        yield* hit({ ...request, cost: 2 })
        for (const _ of [1, 2, 3]) {
          assert.isFalse((yield* hit(request)).accepted)
        }
        yield* TestClock.adjust("6999 millis")
        const refused = yield* hit(request)
        assert.deepStrictEqual(
          [refused.accepted, refused.remaining, refused.at.epochMilliseconds, refused.resetsAt.epochMilliseconds],
          [false, 0, 1_000_009_999, 1_000_010_000]
        )
        assert.strictEqual(calls.take, 1)
        // A minute of the same key is not full, and neither is a higher limit.
        assert.isTrue((yield* hit({ key: "full", limit: 2 })).accepted)
        assert.isTrue((yield* hit({ ...request, limit: 3 })).accepted)
        yield* TestClock.adjust("1 millis")
        assert.isTrue((yield* hit(request)).accepted)
      }))

    it.effect("keep a counter that was peeked until they end", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(2_000_009_500)
        const { calls, peek } = yield* Process.make({ peekAge: "1 second" })
        const other = yield* Process.make()
        const request: Hit = { key: "kept", limit: 5, window: "10 seconds" }
        const remaining = Effect.map(peek(request), ({ remaining }) => [remaining, calls.read])
        assert.deepStrictEqual(yield* remaining, [5, 1])
        yield* other.hit(request)
        yield* TestClock.adjust("499 millis")
        assert.deepStrictEqual(yield* remaining, [5, 1])
        yield* TestClock.adjust("1 millis")
        yield* other.hit({ ...request, cost: 3 })
        assert.deepStrictEqual(yield* remaining, [2, 2])
      }))

    it.effect("take hits in advance, which end with the window", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(3_000_005_000)
        const { calls, hit } = yield* Process.make({ advance: "1 second" })
        const request: Hit = { key: "advance", limit: 1_000, window: "10 seconds" }
        for (let n = 1; n <= 200; n++) {
          assert.strictEqual((yield* hit(request)).remaining, 1_000 - n)
        }
        assert.isAtMost(calls.take, 12)
        yield* TestClock.adjust("5 seconds")
        const verdict = yield* hit(request)
        assert.deepStrictEqual([verdict.remaining, verdict.resetsAt.epochMilliseconds], [999, 3_000_020_000])
      }))

    it.effect("never accept more than the limit with advances, and all of it when they are given back", () =>
      Effect.forEach([1, 2, 3, 4], (seed) =>
        Effect.gen(function*() {
          yield* TestClock.setTime(4_000_000_000 + seed * 60_000)
          const processes = yield* Effect.forEach([1, 2, 3], () => Process.make({ advance: "1 second" }))
          const request: Hit = { key: `advances ${seed}`, limit: 200, window: "20 seconds" }
          const hit = (process: number, hits: number) =>
            Effect.map(
              Effect.forEach(Array.from({ length: hits }), () => processes[process]!.hit(request), {
                concurrency: "unbounded"
              }),
              (verdicts) => verdicts.filter(({ accepted }) => accepted).length
            )
          let accepted = 0
          for (let step = 0; step < 10; step++) {
            accepted += yield* hit(yield* Random.nextIntBetween(0, 2), yield* Random.nextIntBetween(1, 30))
            assert.isAtMost(accepted, request.limit)
            yield* TestTime.advance(`${yield* Random.nextIntBetween(0, 900)} millis`)
          }
          yield* TestTime.advance("3 seconds")
          for (const process of [0, 1, 2]) accepted += yield* hit(process, request.limit)
          assert.strictEqual(accepted, request.limit)
        }).pipe(Effect.scoped, Random.withSeed(seed)), { discard: true }))

    it.effect("cannot be shorter than a second, longer than 31 days, or of a fraction of a millisecond", () =>
      Effect.gen(function*() {
        const { hit, hitAll, peek } = yield* RateLimit
        for (const window of [0, 999, "32 days", 1_000.5, "Infinity"] as const) {
          const request: Hit = { key: "invalid", limit: 1, window }
          const calls: ReadonlyArray<Effect.Effect<unknown, unknown>> = [hit(request), hitAll([request]), peek(request)]
          for (const call of calls) {
            const exit = yield* Effect.exit(call)
            assert.match(
              Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "",
              /TypeError: Expected a window of 1 second/
            )
          }
        }
      }))

    if (sweeps) {
      it.effect("are deleted when they have ended, and minutes with them", () =>
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
  })
