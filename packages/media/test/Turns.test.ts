import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Scheduler } from "effect"
import * as Turns from "../src/Turns.ts"

const yields = (count: number) => Effect.replicateEffect(Effect.yieldNow, count, { discard: true })

/**
 * All points at which a fiber can be interrupted: every combination of the number of
 * operations between yields and the number of yields before the interruption.
 */
const moments = Array.from({ length: 28 }, (_, index) => index + 3).flatMap((ops) =>
  Array.from({ length: 24 }, (_, leavesAfter) => ({ ops, leavesAfter }))
)

for (const place of ["free", "taken"] as const) {
  it.effect(`passes the place to the next fiber if a fiber is interrupted at any point (place ${place})`, () =>
    Effect.forEach(moments, ({ leavesAfter, ops }) =>
      Effect.gen(function*() {
        const inTurn = Turns.make({ max: 1 })
        if (place === "taken") yield* Effect.forkChild(inTurn("first")(yields(4)), { startImmediately: true })
        const leaver = yield* inTurn("leaver")(Effect.yieldNow).pipe(
          Effect.provideService(Scheduler.MaxOpsBeforeYield, ops),
          Effect.forkChild({ startImmediately: true })
        )
        yield* yields(leavesAfter)
        yield* Fiber.interrupt(leaver)
        const next = yield* Effect.forkChild(inTurn("next")(Effect.void), { startImmediately: true })
        yield* yields(10)
        assert.isDefined(next.pollUnsafe(), `left after ${leavesAfter} yields, one each ${ops} operations`)
      }), { discard: true }))
}

it.effect("runs at most the maximum concurrently", () =>
  Effect.gen(function*() {
    const inTurn = Turns.make({ max: 2 })
    let current = 0
    let most = 0
    const work = Effect.acquireUseRelease(
      Effect.sync(() => {
        most = Math.max(most, ++current)
      }),
      () => Effect.yieldNow,
      () => Effect.sync(() => void current--)
    )
    const owners = Array.from({ length: 50 }, (_, index) => `${index % 7}`)
    yield* Effect.forEach(owners, (owner) => inTurn(owner)(work), { concurrency: "unbounded", discard: true })
    assert.strictEqual(most, 2)
  }))

it.effect("serves owners in turn, whatever the order of arrival", () =>
  Effect.gen(function*() {
    const inTurn = Turns.make({ max: 1 })
    const gate = yield* Deferred.make<void>()
    const order: Array<string> = []
    yield* Effect.forkChild(inTurn("first")(Deferred.await(gate)), { startImmediately: true })
    const waiting = yield* Effect.forEach(["busy", "busy", "busy", "other", "other"], (owner) =>
      Effect.forkChild(
        inTurn(owner)(Effect.sync(() => void order.push(owner))),
        { startImmediately: true }
      ))
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.joinAll(waiting)
    assert.deepStrictEqual(order, ["busy", "other", "busy", "other", "busy"])
  }))

it.effect("does not prevent yields while an effect runs", () =>
  Effect.gen(function*() {
    const prevented = yield* Turns.make({ max: 1 })("owner")(Effect.service(Scheduler.PreventSchedulerYield))
    assert.isFalse(prevented)
  }))

it.effect("leaves a place to other owners, however much work one of them has", () =>
  Effect.gen(function*() {
    const inTurn = Turns.make({ max: 2 })
    const gate = yield* Deferred.make<void>()
    const busy = yield* Effect.forEach([1, 2, 3], () =>
      Effect.forkChild(inTurn("busy")(Deferred.await(gate)), { startImmediately: true }))
    assert.strictEqual(yield* inTurn("other")(Effect.succeed("ran")), "ran")
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.joinAll(busy)
  }))
