import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as MemoryPaymentStore from "../src/MemoryPaymentStore.ts"
import * as Payments from "../src/Payments.ts"
import { makeHost, open, outcomeOf } from "./Hosts.ts"
import * as PaymentsContract from "./PaymentsContract.ts"

const memory = MemoryPaymentStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory))

PaymentsContract.suite("memory", memory, 20)

for (const [settledKept, left] of [[undefined, 2], ["1 day", 1]] as const) {
  it.effect(`layerSweep keeps payments ${settledKept === undefined ? "forever by default" : "for settledKept"}`, () =>
    Effect.gen(function*() {
      const host = yield* makeHost()
      yield* open(host, "acct-1")
      yield* host.settle(outcomeOf((yield* open(host, "acct-1")).id), { isCredited: true })
      yield* Layer.build(Payments.layerSweep({ settledKept })).pipe(
        Effect.provideContext(Context.make(Payments.Payments, host))
      )
      const count = Effect.map(host.list({ account: "acct-1", limit: 10 }), ({ length }) => length)
      yield* TestClock.adjust("20 hours")
      assert.strictEqual(yield* count, 2)
      yield* TestClock.adjust("6 hours")
      assert.strictEqual(yield* count, left)
    }).pipe(Effect.scoped, Effect.provide([memory, SecureRandom.layerWebCrypto])))
}
