/** Limit on the requests whose images are decoded concurrently. */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Scheduler } from "effect"
import { makeTurns } from "../src/internal/create/accountTurns.ts"

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
        const inTurn = makeTurns(1)
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
    const inTurn = makeTurns(2)
    let current = 0
    let most = 0
    const work = Effect.acquireUseRelease(
      Effect.sync(() => {
        most = Math.max(most, ++current)
      }),
      () => Effect.yieldNow,
      () => Effect.sync(() => void current--)
    )
    const accounts = Array.from({ length: 50 }, (_, index) => `${index % 7}`)
    yield* Effect.forEach(accounts, (account) => inTurn(account)(work), { concurrency: "unbounded", discard: true })
    assert.strictEqual(most, 2)
  }))

it.effect("serves accounts in turn, whatever the order of arrival", () =>
  Effect.gen(function*() {
    const inTurn = makeTurns(1)
    const gate = yield* Deferred.make<void>()
    const order: Array<string> = []
    yield* Effect.forkChild(inTurn("busy")(Deferred.await(gate)), { startImmediately: true })
    const waiting = yield* Effect.forEach(["busy", "busy", "busy", "other"], (account) =>
      Effect.forkChild(
        inTurn(account)(Effect.sync(() => void order.push(account))),
        { startImmediately: true }
      ))
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.joinAll(waiting)
    assert.deepStrictEqual(order, ["busy", "other", "busy", "busy"])
  }))

it.effect("does not prevent yields while an effect runs", () =>
  Effect.gen(function*() {
    const prevented = yield* makeTurns(1)("account")(Effect.service(Scheduler.PreventSchedulerYield))
    assert.isFalse(prevented)
  }))
