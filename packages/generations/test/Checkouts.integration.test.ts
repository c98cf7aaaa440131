import { assert, it } from "@effect/vitest"
import { Accounts, SqlAccountStore } from "@kinora/accounts"
import { SqlPaymentStore } from "@kinora/payments"
import { Pipelining, UnitOfWork } from "@kinora/persistence"
import { Faults, FaultySqlClient, TestDatabase } from "@kinora/testkit"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { layerSql } from "./Assembly.ts"
import { makeHost, open, openAccount, outcomeOf, receive, stateOf, suite } from "./CheckoutsContract.ts"

suite("Postgres, pipelined", layerSql(TestDatabase.postgresWith(Pipelining.over)), 40)

for (const [name, database, callers] of TestDatabase.all) {
  // Each caller waits for the same lock, and a connection for it.
  suite(name, layerSql(database), callers / 10)

  it.live(`a payment is credited once if the connection is lost at any statement of its unit (${name})`, () =>
    Effect.gen(function*() {
      const faults = Faults.make()
      const host = yield* makeHost()
      const faulty = yield* makeHost().pipe(Effect.provide(overFaulty(faults)))
      for (const kind of ["lostBefore", "lostAfter"] as const) {
        for (const place of ["statement", "commit"] as const) {
          let isHit = true
          for (let skip = 0; isHit; skip++) {
            const account = yield* openAccount
            const { id } = yield* open(host, account)
            const hits = faults.hits()
            faults.plan({ kind, place, skip, millis: 0, count: 1 })
            yield* Effect.exit(receive(faulty, outcomeOf(id)))
            isHit = faults.hits() > hits
            faults.clear()
            const message = `${kind} ${place} ${skip}`
            assert.include([0, 2_000], (yield* stateOf(host, account)).balance, message)
            yield* receive(host, outcomeOf(id))
            const { balance, deposits, payments } = yield* stateOf(host, account)
            assert.deepStrictEqual([balance, deposits.length, payments], [2_000, 1, ["paid credited"]], message)
          }
        }
      }
      // Each statement was hit before and after it ran.
      assert.isAtLeast(faults.hits(), 14)
    }).pipe(Effect.provide(layerSql(database))))
}

/** Accounts and payments over a client with faults, in the surrounding database. */
const overFaulty = (faults: Faults.Faults) =>
  Layer.fresh(Layer.merge(Accounts.layer, SqlPaymentStore.layer)).pipe(
    Layer.provide(Layer.fresh(SqlAccountStore.layer)),
    Layer.provideMerge(Layer.fresh(UnitOfWork.layerSql)),
    Layer.provide(Layer.fresh(FaultySqlClient.layer({ faults }))),
    Layer.provideMerge(SecureRandom.layerWebCrypto)
  )
