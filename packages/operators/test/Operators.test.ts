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

for (const [entriesKept, left] of [[undefined, 1], ["1 day", 0]] as const) {
  it.effect(`layerSweep keeps entries ${entriesKept === undefined ? "forever by default" : "for entriesKept"}`, () =>
    Effect.gen(function*() {
      const log = yield* AuditLog.AuditLog
      yield* log.append({
        actor: "owner",
        role: "owner",
        address: "192.0.2.1",
        requestId: "req-1",
        action: "suspendAccount",
        subject: null,
        before: null,
        after: null
      })
      yield* Layer.build(AuditLog.layerSweep({ entriesKept }))
      yield* TestClock.adjust("20 hours")
      assert.strictEqual((yield* log.list({ limit: 10 })).length, 1)
      yield* TestClock.adjust("6 hours")
      assert.strictEqual((yield* log.list({ limit: 10 })).length, left)
    }).pipe(Effect.scoped, Effect.provide(Operators.layerMemory)))
}
