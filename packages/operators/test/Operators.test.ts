import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as AuditLog from "../src/AuditLog.ts"
import * as MemoryOperatorStore from "../src/MemoryOperatorStore.ts"
import * as Operators from "../src/Operators.ts"
import * as AuditContract from "./AuditContract.ts"
import * as OperatorsContract from "./OperatorsContract.ts"

const memory = MemoryOperatorStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory))

OperatorsContract.suite("memory", memory)
AuditContract.suite("memory", memory)

it.effect("layerSweep with an action deletes only entries of this action", () =>
  Effect.gen(function*() {
    const log = yield* AuditLog.AuditLog
    yield* Effect.forEach(
      ["signInFailed", "suspendAccount"],
      (action) => log.append({ ...AuditContract.change, action })
    )
    yield* Layer.build(AuditLog.layerSweep({ entriesKept: "1 day", action: "signInFailed" }))
    yield* TestClock.adjust("26 hours")
    assert.deepStrictEqual((yield* log.list({ limit: 10 })).map(({ action }) => action), ["suspendAccount"])
  }).pipe(Effect.scoped, Effect.provide(Operators.layerMemory)))

for (const [entriesKept, left] of [[undefined, 1], ["1 day", 0]] as const) {
  it.effect(`layerSweep keeps entries ${entriesKept === undefined ? "forever by default" : "for entriesKept"}`, () =>
    Effect.gen(function*() {
      const log = yield* AuditLog.AuditLog
      yield* log.append(AuditContract.change)
      yield* Layer.build(AuditLog.layerSweep({ entriesKept }))
      yield* TestClock.adjust("20 hours")
      assert.strictEqual((yield* log.list({ limit: 10 })).length, 1)
      yield* TestClock.adjust("6 hours")
      assert.strictEqual((yield* log.list({ limit: 10 })).length, left)
    }).pipe(Effect.scoped, Effect.provide(Operators.layerMemory)))
}
