import { assert, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { defaults } from "../src/HttpServerOptions.ts"
import * as RequestBudget from "../src/middleware/requestBudget.ts"

const make = (requestsMax = 512) => RequestBudget.make({ ...defaults, requestTime: Duration.seconds(5), requestsMax })

const late = Effect.succeed("late" as const)
const overloaded = Effect.succeed("overloaded" as const)
const start = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(effect, { startImmediately: true })

it.effect("responds when the time is used up, interrupts the request, and does not wait for what it cannot interrupt", () =>
  Effect.gen(function*() {
    const budgeted = yield* make()
    const interrupted = yield* Deferred.make<void>()
    const hanging = yield* start(
      budgeted(
        ({ within }) => within(Effect.ensuring(Effect.never, Deferred.succeed(interrupted, undefined)), late),
        overloaded
      )
    )
    const committed = yield* Deferred.make<void>()
    const commit = yield* Deferred.make<void>()
    const committing = yield* start(budgeted(
      ({ within }) =>
        within(
          Effect.uninterruptible(Effect.andThen(Deferred.await(commit), Deferred.succeed(committed, undefined))),
          late
        ),
      overloaded
    ))
    yield* TestClock.adjust("4999 millis")
    assert.isUndefined(hanging.pollUnsafe())
    yield* TestClock.adjust("300 millis")
    assert.strictEqual(yield* Fiber.join(hanging), "late")
    assert.strictEqual(yield* Fiber.join(committing), "late")
    yield* Deferred.await(interrupted)
    yield* Deferred.succeed(commit, undefined)
    yield* Deferred.await(committed)
  }).pipe(Effect.scoped))

it.effect("does not count the time of waits", () =>
  Effect.gen(function*() {
    const budgeted = yield* make(1)
    const gate = yield* Deferred.make<void>()
    const waiting = yield* start(budgeted(
      ({ paused, within }) => within(Effect.andThen(paused(Deferred.await(gate)), Effect.never), late),
      overloaded
    ))
    yield* TestClock.adjust("1 hour")
    assert.isUndefined(waiting.pollUnsafe())
    // A request that waits does not keep others out, either.
    assert.strictEqual(yield* budgeted(() => Effect.succeed("handled"), overloaded), "handled")
    yield* Deferred.succeed(gate, undefined)
    yield* TestClock.adjust("4 seconds")
    assert.isUndefined(waiting.pollUnsafe())
    yield* TestClock.adjust("2 seconds")
    assert.strictEqual(yield* Fiber.join(waiting), "late")
  }).pipe(Effect.scoped))

it.effect("rejects requests above the maximum, also after requests that failed and were interrupted", () =>
  Effect.gen(function*() {
    const budgeted = yield* make(2)
    const send = budgeted(({ within }) => within(Effect.never, late), overloaded)
    const failing = budgeted(({ within }) => within(Effect.fail("failed"), late), overloaded)
    assert.isTrue(Exit.isFailure(yield* Effect.exit(failing)))
    const first = yield* start(send)
    yield* start(send)
    assert.strictEqual(yield* send, "overloaded")
    yield* Fiber.interrupt(first)
    assert.strictEqual(yield* Effect.flip(failing), "failed")
    yield* start(send)
    assert.strictEqual(yield* send, "overloaded")
  }).pipe(Effect.scoped))
