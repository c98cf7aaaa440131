import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import * as TestTime from "@kinora/testkit/TestTime"
import { Cause, Effect, Exit, Layer, Random } from "effect"
import { TestClock } from "effect/testing"
import { type Hit, layer as layerRateLimit, RateLimit } from "../src/RateLimit.ts"
import type { RateLimitStore } from "../src/RateLimitStore.ts"
import * as Process from "./Process.ts"

/** The behaviour of fixed windows of any length on every backend. */
export const suite = <E>(
  name: string,
  backend: Layer.Layer<RateLimitStore | UnitOfWork.UnitOfWork, E>
) =>
  layer(layerRateLimit.pipe(Layer.provideMerge(backend)))(`Windows (${name})`, (it) => {
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
        const request: Hit = { key: "advance", limit: 1_000, window: "10 seconds", mayWait: true }
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
          const request: Hit = { key: `advances ${seed}`, limit: 200, window: "20 seconds", mayWait: true }
          const { accepted, begin, end } = Process.makeTally(request)
          for (let step = 0; step < 10; step++) {
            yield* begin(processes[yield* Random.nextIntBetween(0, 2)]!, yield* Random.nextIntBetween(1, 30))
            yield* TestTime.advance(`${yield* Random.nextIntBetween(0, 900)} millis`)
            assert.isAtMost(accepted(), request.limit)
          }
          yield* TestTime.advance("3 seconds")
          for (const process of processes) yield* begin(process, request.limit)
          yield* TestTime.advance("3 seconds")
          yield* end
          assert.strictEqual(accepted(), request.limit)
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
  })
