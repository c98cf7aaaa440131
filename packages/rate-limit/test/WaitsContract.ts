import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import * as TestTime from "@kinora/testkit/TestTime"
import { Effect, Fiber, type Layer, Random } from "effect"
import { TestClock } from "effect/testing"
import type { Hit, Verdict } from "../src/RateLimit.ts"
import type { RateLimitStore } from "../src/RateLimitStore.ts"
import * as Process from "./Process.ts"
import { ofDatabases, type Traits } from "./Traits.ts"

const minute = 60_000

/** The behaviour of hits that do not fit while processes hold what they took in advance, on every backend. */
export const suite = <E>(
  name: string,
  backend: Layer.Layer<RateLimitStore | UnitOfWork.UnitOfWork, E>,
  { transactions }: Traits = ofDatabases
) =>
  layer(backend)(`Waits (${name})`, (it) => {
    it.effect("are not needed by hits of one process, whose own advance covers them", () =>
      Effect.forEach(Array.from({ length: 40 }, (_, seed) => seed), (seed) =>
        Effect.gen(function*() {
          yield* TestClock.setTime((1_000 + seed) * minute)
          const { hit } = yield* makeProcess
          const request = { key: `own ${seed}`, limit: 60, mayWait: true }
          yield* hit(request)
          // Some hits come while others are counted.
          const late = Effect.flatMap(
            Random.nextIntBetween(0, 30),
            (turns) => Effect.repeat(Effect.yieldNow, { times: turns })
          )
          assert.strictEqual(accepted(yield* together(59, Effect.andThen(late, hit(request)))), 59)
          assert.isFalse((yield* hit({ ...request, mayWait: false })).accepted)
        }).pipe(Effect.scoped, Random.withSeed(seed)), { discard: true }))

    it.effect("are not needed by keys whose hits may not wait, since no process takes any in advance", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(1_500 * minute)
        const [busy, other] = [yield* makeProcess, yield* makeProcess]
        const request = { key: "exact", limit: 100 }
        for (let n = 0; n < 30; n++) yield* busy.hit(request)
        assert.strictEqual(accepted(yield* together(70, other.hit(request))), 70)
        assert.strictEqual(busy.calls.take, 30)
      }))

    it.effect("end when other processes have given back what they took in advance", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(2_000 * minute)
        const [busy, other] = [yield* makeProcess, yield* makeProcess]
        const request: Hit = { key: "given back", limit: 100, mayWait: true }
        for (let n = 0; n < 30; n++) yield* busy.hit(request)
        assert.isFalse((yield* other.hit({ ...request, cost: 70, mayWait: false })).accepted)
        const waiting = yield* Effect.forkChild(together(70, other.hit(request)), { startImmediately: true })
        yield* TestTime.advance("2900 millis")
        assert.isUndefined(waiting.pollUnsafe())
        yield* TestTime.advance("100 millis")
        assert.strictEqual(accepted(yield* Fiber.join(waiting)), 70)
        assert.isFalse((yield* other.hit({ ...request, mayWait: false })).accepted)
      }))

    it.effect("begin once per window and key, with as many hits as the limit allows", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(3_000 * minute)
        const { hit } = yield* makeProcess
        const request: Hit = { key: "once", limit: 3, mayWait: true }
        assert.strictEqual(accepted(yield* together(3, hit(request))), 3)
        const calls = yield* Effect.forEach([1, 2, 3, 4, 5], () => Effect.forkChild(hit(request)))
        yield* TestTime.advance("1 millis")
        assert.deepStrictEqual(calls.map((call) => call.pollUnsafe() === undefined), [true, true, true, false, false])
        yield* TestTime.advance("3 seconds")
        assert.strictEqual(accepted(yield* Fiber.joinAll(calls)), 0)
        assert.isFalse((yield* hit(request)).accepted)

        yield* TestTime.advance("1 minute")
        assert.strictEqual(accepted(yield* together(3, hit(request))), 3)
        const next = yield* Effect.forkChild(hit(request))
        yield* TestTime.advance("2900 millis")
        assert.isUndefined(next.pollUnsafe())
        yield* TestTime.advance("100 millis")
        assert.isFalse((yield* Fiber.join(next)).accepted)
      }))

    it.effect("continue for other hits when one is interrupted", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(4_000 * minute)
        const { hit } = yield* makeProcess
        const request: Hit = { key: "interrupted", limit: 1, mayWait: true }
        yield* hit(request)
        const interrupted = yield* Effect.forkChild(hit(request), { startImmediately: true })
        yield* TestTime.advance("1 second")
        yield* Fiber.interrupt(interrupted)
        const next = yield* Effect.forkChild(hit(request), { startImmediately: true })
        yield* TestTime.advance("2900 millis")
        assert.isUndefined(next.pollUnsafe())
        yield* TestTime.advance("100 millis")
        assert.isFalse((yield* Fiber.join(next)).accepted)
      }))

    it.effect("do not help a hit that costs more than its limit", () =>
      Effect.gen(function*() {
        const { hit } = yield* makeProcess
        assert.isFalse((yield* hit({ key: "costly", limit: 3, cost: 4, mayWait: true })).accepted)
      }))

    if (transactions) {
      it.effect("do not begin in a transaction", () =>
        Effect.gen(function*() {
          const { hit } = yield* makeProcess
          const { atomically } = yield* UnitOfWork.UnitOfWork
          const request: Hit = { key: "transaction", limit: 1, mayWait: true }
          yield* hit(request)
          assert.isFalse((yield* atomically(hit(request))).accepted)
        }))
    }

    it.effect("do not change what peek returns after an advance was given back", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(5_000 * minute)
        const { hit, peek } = yield* Process.make({ advance: "1 second", peekAge: "10 seconds" })
        const request = { key: "peeked", limit: 1_000, mayWait: true }
        for (let n = 0; n < 100; n++) yield* hit(request)
        const remaining = Effect.map(peek(request), ({ remaining }) => remaining)
        assert.strictEqual(yield* remaining, 900)
        yield* TestTime.advance("2 seconds")
        assert.strictEqual(yield* remaining, 900)
      }))
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const makeProcess = Process.make({ advance: "1 second" })

const together = <A, E>(count: number, hit: Effect.Effect<A, E>) =>
  Effect.forEach(Array.from({ length: count }), () => hit, { concurrency: "unbounded" })

const accepted = (verdicts: ReadonlyArray<Verdict>): number => verdicts.filter((verdict) => verdict.accepted).length
