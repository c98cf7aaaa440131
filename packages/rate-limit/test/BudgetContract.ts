import { assert, layer } from "@effect/vitest"
import { DatabaseTime, type UnitOfWork } from "@kinora/persistence"
import { SkewedClock } from "@kinora/testkit"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Budget, layer as layerBudget, type Reserved } from "../src/Budget.ts"
import { RateLimitStore } from "../src/RateLimitStore.ts"
import * as FailingStore from "./FailingStore.ts"
import { ofDatabases, type Traits } from "./Traits.ts"

const day = 86_400_000

/** The behaviour of `Budget` on every backend. */
export const suite = <E>(
  name: string,
  backend: Layer.Layer<RateLimitStore | UnitOfWork.UnitOfWork, E>,
  { transactions }: Traits = ofDatabases
) =>
  layer(layerBudget.pipe(Layer.provideMerge(backend)))(`Budget (${name})`, (it) => {
    for (const millis of [-120_000, 120_000]) {
      it.effect(`reserves the limit of each day once when the clock of a host is off by ${millis} ms`, () =>
        Effect.gen(function*() {
          const onHost = SkewedClock.onHost(DatabaseTime.DatabaseClock, millis)
          const right = yield* instance
          const skewed = yield* onHost(instance)
          yield* TestClock.setTime(100 * day - 60_000)
          const request = { key: `skewed by ${millis}`, limit: 10, amount: 10 }
          for (const dayEnd of [100, 101]) {
            const { reservation, resetsAt } = yield* onHost(granted(skewed.reserve(request)))
            assert.strictEqual(resetsAt.epochMilliseconds, dayEnd * day)
            assert.strictEqual((yield* right.reserve(request))._tag, "Refused")
            yield* onHost(skewed.settle(reservation, 9))
            assert.deepStrictEqual([yield* right.used(request.key), yield* onHost(skewed.used(request.key))], [9, 9])
            yield* TestClock.setTime(dayEnd * day)
          }
        }))
    }

    if (transactions) {
      it.effect(
        "counts each amount once when the second statement of a set fails with a conflict",
        () =>
          Effect.gen(function*() {
            const failing = yield* FailingStore.make("conflict")
            const { reserve, reserveAll, used } = yield* Effect.provideService(instance, RateLimitStore, failing.store)
            const first = yield* Effect.forkChild(reserve({ key: "first", limit: 1, amount: 1 }))
            yield* Deferred.await(failing.started)
            // Both wait for the first set, so they are one set of two statements.
            const fibers = yield* Effect.forEach(
              [5, 3],
              (amount) => Effect.forkChild(reserve({ key: "conflict", limit: 100, amount }), { startImmediately: true })
            )
            yield* Deferred.succeed(failing.gate, undefined)
            yield* Fiber.join(first)
            const answers = yield* Effect.forEach(fibers, Fiber.join)
            assert.deepStrictEqual(answers.map(amountOf), [5, 3])
            assert.strictEqual(yield* used("conflict"), 8)
            yield* reserveAll([5, 3].map((amount) => ({ key: "conflict", limit: 100, amount })))
            assert.strictEqual(yield* used("conflict"), 16)
          })
      )
    }

    if (transactions) {
      it.effect("reserves nothing when a set fails", () =>
        Effect.gen(function*() {
          const { gate, store } = yield* FailingStore.make("failed")
          yield* Deferred.succeed(gate, undefined)
          const { reserveAll, used } = yield* Effect.provideService(instance, RateLimitStore, store)
          yield* reserveAll([{ key: "first failed", limit: 1, amount: 1 }])
          const error = yield* Effect.flip(reserveAll([5, 3].map((amount) => ({ key: "failed", limit: 100, amount }))))
          assert.strictEqual(error.reason, "failed")
          assert.strictEqual(yield* used("failed"), 0)
        }))
    }
  })

const instance = Effect.map(Layer.build(Layer.fresh(layerBudget)), (context) => Context.get(context, Budget))

const amountOf = (answer: Reserved) => answer._tag === "Granted" ? answer.reservation.amount : 0

const granted = <E>(reserve: Effect.Effect<Reserved, E>) =>
  Effect.flatMap(reserve, (answer) => answer._tag === "Granted" ? Effect.succeed(answer) : Effect.die("refused"))
