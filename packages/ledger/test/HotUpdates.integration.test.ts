import { assert, it } from "@effect/vitest"
import { HotUpdates } from "@kinora/testkit"
import { DateTime, Effect, Result } from "effect"
import { Ledger } from "../src/Ledger.ts"
import * as Backends from "./Backends.ts"

it.live("charges, refunds and holds change no index of lots, quotas and accounts", () =>
  Effect.gen(function*() {
    const database = yield* HotUpdates.database
    yield* Effect.gen(function*() {
      const { chargeAll, grantAll, holdAll, refundAll } = yield* Ledger
      const at = yield* DateTime.now
      const expiresAt = DateTime.add(at, { days: 1 })
      const accounts = Array.from({ length: 400 }, (_, n) => `account-${n}`)
      const some = accounts.filter((_, n) => n % 4 === 0)
      const all = <A, E>(results: Effect.Effect<ReadonlyArray<Result.Result<A, E>>, unknown>) =>
        Effect.map(results, (results) => assert.isTrue(results.every(Result.isSuccess)))

      const spend = (accounts: ReadonlyArray<string>, reference: string) =>
        all(chargeAll(accounts.map((account) => ({
          account,
          reference,
          at,
          amount: { _tag: "Credits", credits: 10, purpose: "image" }
        }))))
      const count = (accounts: ReadonlyArray<string>, reference: string) =>
        all(chargeAll(accounts.map((account) => ({
          account,
          reference,
          at,
          amount: { _tag: "Quota", kind: "image", limit: 1_000 }
        }))))
      const refund = (reference: string, part: string) =>
        all(refundAll(some.map((account) => ({ account, reference, at, part: { reference: part, credits: 1 } }))))
      const hold = (reference: string) =>
        all(holdAll(some.map((account) => ({ account, reference, at, credits: 1, expiresAt }))))

      yield* all(grantAll(accounts.map((account) => ({
        account,
        reference: "start",
        kind: "plan",
        credits: 1_000,
        expiresAt,
        at
      }))))
      yield* count(accounts, "first")
      yield* HotUpdates.verify({
        updates: { ledger_lot: 600, ledger_quota: 100, ledger_account: 400 },
        rounds: [
          spend(some, "spend 1"),
          spend(some, "spend 2"),
          count(some, "count"),
          refund("spend 1", "a"),
          refund("spend 2", "b"),
          hold("hold 1"),
          hold("hold 2")
        ]
      })
    }).pipe(Effect.provide(Backends.over(database)))
  }).pipe(Effect.scoped))
