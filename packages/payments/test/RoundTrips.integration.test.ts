/** Statements and round trips of payments. */
import { assert, it } from "@effect/vitest"
import { Migrations, Pipelining, UnitOfWork } from "@kinora/persistence"
import { RoundTrips } from "@kinora/testkit"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as SqlPaymentStore from "../src/SqlPaymentStore.ts"
import { makeHost, outcomeOf, urls } from "./Hosts.ts"

/** `BEGIN` and `COMMIT` included. All that follows the lock and what is read under it leaves in one network write. */
const bounds = {
  reserve: { statements: 5, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
  start: { statements: 1, roundTrips: 1, writesAfterLock: 0, writesAfterRead: 0 },
  settle: { statements: 5, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
  settleAgain: { statements: 4, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 }
}

it.live("operations send no more statements than these, and wait for no more responses", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.makeWith(Pipelining.over)
    const costs = yield* Effect.gen(function*() {
      const payments = yield* makeHost()
      const request = { account: "a", cents: 2_000 }
      yield* payments.reserve(request)
      const reserve = yield* costOf(payments.reserve(request))
      const payment = yield* payments.reserve(request)
      const start = yield* costOf(payments.start(payment, urls))
      const settled = payments.settle(outcomeOf(payment.id), { isCredited: true })
      return {
        reserve,
        start,
        settle: yield* costOf(settled),
        settleAgain: yield* costOf(settled)
      }
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Layer.mergeAll(SqlPaymentStore.layer, UnitOfWork.layerSql, SecureRandom.layerWebCrypto).pipe(
          Layer.provideMerge(Migrations.layer(SqlPaymentStore.migrations)),
          Layer.provideMerge(database)
        )
      )
    )
    assert.deepStrictEqual(costs, bounds)
  }).pipe(Effect.scoped))
