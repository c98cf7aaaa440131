import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scheduler, Scope } from "effect"
import * as Bounded from "../src/internal/Bounded.ts"
import * as Turns from "../src/Turns.ts"

/** Runs so many effects at the same time. */
const bounded = (max: number) => Bounded.make(Turns.make({ max, ownMax: max }))

it.effect("returns immediately to an interrupted caller, and keeps the permit until the work ends", () =>
  Effect.gen(function*() {
    const run = yield* bounded(1)
    const started = yield* Deferred.make<void>()
    const gate = yield* Deferred.make<void>()
    let isOver = false
    const first = yield* Effect.forkChild(run(
      Deferred.succeed(started, undefined).pipe(
        Effect.andThen(Deferred.await(gate)),
        Effect.andThen(Effect.sync(() => {
          isOver = true
        }))
      )
    ))
    yield* Deferred.await(started)
    yield* Fiber.interrupt(first)
    assert.isFalse(isOver)
    const second = yield* Effect.forkChild(run(Effect.sync(() => isOver)), { startImmediately: true })
    yield* Deferred.succeed(gate, undefined)
    assert.isTrue(yield* Fiber.join(second))
  }))

it.effect("does not start the work of a caller that was interrupted while it waited", () =>
  Effect.gen(function*() {
    const run = yield* bounded(1)
    const gate = yield* Deferred.make<void>()
    let starts = 0
    const work = Effect.sync(() => {
      starts++
    })
    const first = yield* Effect.forkChild(run(Deferred.await(gate)), { startImmediately: true })
    const second = yield* Effect.forkChild(run(work), { startImmediately: true })
    yield* Fiber.interrupt(second)
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(first)
    yield* run(Effect.void)
    assert.strictEqual(starts, 0)
  }))

it.effect("never exceeds the concurrency", () =>
  Effect.gen(function*() {
    const run = yield* bounded(2)
    let current = 0
    let most = 0
    const work = Effect.acquireUseRelease(
      Effect.sync(() => {
        most = Math.max(most, ++current)
      }),
      () => Effect.yieldNow,
      () => Effect.sync(() => void current--)
    )
    yield* Effect.forEach(Array.from({ length: 50 }), () => run(work), { concurrency: "unbounded", discard: true })
    assert.strictEqual(most, 2)
  }))

it.effect("releases the permit of failed work", () =>
  Effect.gen(function*() {
    const run = yield* bounded(1)
    assert.strictEqual(yield* Effect.flip(run(Effect.fail("refused"))), "refused")
    assert.strictEqual(yield* run(Effect.succeed("next")), "next")
  }))

it.effect("waits for running work when the scope closes", () =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const run = yield* Scope.provide(bounded(1), scope)
    const gate = yield* Deferred.make<void>()
    let isOver = false
    yield* Effect.forkChild(
      run(Effect.andThen(
        Deferred.await(gate),
        Effect.sync(() => {
          isOver = true
        })
      )),
      { startImmediately: true }
    )
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(closing)
    assert.isTrue(isOver)
  }))

/**
 * Every moment at which a fiber can be interrupted: it yields after each of so many
 * operations, and is interrupted after each of so many yields.
 */
const moments = Array.from({ length: 28 }, (_, index) => index + 3).flatMap((ops) =>
  Array.from({ length: 24 }, (_, leavesAfter) => ({ ops, leavesAfter }))
)

for (const permit of ["free", "taken"] as const) {
  it.effect(`loses no permit to a caller that leaves, at any moment, when it was ${permit}`, () =>
    Effect.forEach(moments, ({ leavesAfter, ops }) =>
      Effect.gen(function*() {
        const run = yield* bounded(1)
        if (permit === "taken") yield* Effect.forkChild(run(yields(4)), { startImmediately: true })
        const leaver = yield* run(Effect.yieldNow).pipe(
          Effect.provideService(Scheduler.MaxOpsBeforeYield, ops),
          Effect.forkChild({ startImmediately: true })
        )
        yield* yields(leavesAfter)
        yield* Fiber.interrupt(leaver)
        const next = yield* Effect.forkChild(run(Effect.void), { startImmediately: true })
        yield* yields(30)
        assert.isDefined(next.pollUnsafe(), `left after ${leavesAfter} yields, one each ${ops} operations`)
      }), { discard: true }))
}

const yields = (count: number) => Effect.replicateEffect(Effect.yieldNow, count, { discard: true })
