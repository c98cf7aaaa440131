import { assert, layer } from "@effect/vitest"
import { DatabaseTime, Pipelining, type StorageError } from "@kinora/persistence"
import { SkewedClock, TestDatabase } from "@kinora/testkit"
import { DateTime, Effect, Result, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { accepted } from "../src/internal/contract/commands.ts"
import { Ledger } from "../src/Ledger.ts"
import type { LedgerError } from "../src/LedgerError.ts"
import { LotId } from "../src/Lot.ts"
import { TransactionId } from "../src/Transaction.ts"
import * as Backends from "./Backends.ts"
import * as LedgerTransactionsContract from "./LedgerTransactionsContract.ts"
import * as PartialRefundsContract from "./PartialRefundsContract.ts"

const at = DateTime.makeUnsafe("2026-11-20T12:00:00.000Z")

/** An account with a lot of 100 credits, a charge `job` of 30 and one charge to its quota. */
const openAccount = Effect.fnUntraced(function*(account: string) {
  const ledger = yield* Ledger
  const expiresAt = DateTime.add(at, { days: 30 })
  const grant = { account, reference: "period-1", kind: "plan", credits: 100, expiresAt, at } as const
  const { lot: { id: lot } } = yield* ledger.grant(grant)
  const credits = { _tag: "Credits", credits: 30, purpose: "image" } as const
  const quota = { _tag: "Quota", kind: "image", limit: 5 } as const
  yield* accepted(ledger.chargeAll([
    { account, reference: "job", amount: credits, at },
    { account, reference: "still", amount: quota, at }
  ]))
  const [charge] = yield* ledger.entries({ account, reference: "job" })
  return { lot, charge: charge! }
})

const tagOf = (result: Result.Result<unknown, LedgerError | StorageError.StorageError>) =>
  Result.isFailure(result) && result.failure._tag === "LedgerError" ? result.failure.reason._tag : undefined

/** Counts the statements of `effect`, except those that begin and end transactions. */
const countStatements = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  let statements = 0
  yield* effect.pipe(Effect.withTracer(Tracer.make({
    span: (options) => {
      if (options.kind === "client") statements++
      return new Tracer.NativeSpan(options)
    }
  })))
  return statements
})

/** Ten per connection of the pool. */
const callersMax = 160

const pipelined = ["Postgres, pipelined", TestDatabase.postgresWith(Pipelining.over), callersMax] as const

for (const [name, database, callers] of [...TestDatabase.all, pipelined]) {
  PartialRefundsContract.suite(name, Backends.over(database))
  LedgerTransactionsContract.suite(name, Backends.over(database), Math.min(callers, callersMax))

  layer(Backends.over(database))(`Hosts whose clocks differ (${name})`, (it) => {
    for (const millis of [-120_000, 120_000]) {
      const onHost = SkewedClock.onHost(DatabaseTime.DatabaseClock, millis)
      const account = `skewed by ${millis}`

      it.effect(`expire a lot neither early nor late if a clock is off by ${millis} ms`, () =>
        Effect.gen(function*() {
          const ledger = yield* Ledger
          const start = Date.UTC(2030, 0, 1, 12) + millis
          yield* TestClock.setTime(start)
          const expiresAt = DateTime.makeUnsafe(start + 60_000)
          const grant = { account, reference: "lot", kind: "plan", credits: 100, expiresAt } as const
          // By the host that is right, since the one that is ahead would reject it as expired.
          yield* ledger.grant({ ...grant, at: yield* DateTime.now })
          const chargeNow = (reference: string) =>
            Effect.flatMap(DateTime.now, (at) => {
              const amount = { _tag: "Credits", credits: 10, purpose: "image" } as const
              return Effect.result(ledger.charge({ account, reference, amount, at }))
            })
          const expireNow = Effect.flatMap(DateTime.now, (at) => ledger.expire({ at }))
          const creditsNow = Effect.flatMap(DateTime.now, (at) => ledger.balances(account, at)).pipe(
            Effect.map(({ credits }) => credits)
          )
          yield* TestClock.adjust("59999 millis")
          const amount = { _tag: "Credits", credits: 10, purpose: "image" } as const
          yield* onHost(Effect.flatMap(DateTime.now, (at) => ledger.check({ account, amount, at })))
          assert.isTrue(Result.isSuccess(yield* onHost(chargeNow("live"))))
          assert.deepStrictEqual([yield* onHost(expireNow), yield* onHost(creditsNow)], [{
            lots: 0,
            credits: 0,
            holds: 0
          }, 90])
          // A refund in time returns to the lot.
          const refunded = yield* onHost(
            Effect.flatMap(DateTime.now, (at) => ledger.refund({ account, reference: "live", at }))
          )
          assert.strictEqual(refunded._tag === "Refunded" && refunded.credits, 10)
          assert.strictEqual(yield* creditsNow, 100)
          yield* TestClock.adjust("1 millis")
          assert.isTrue(Result.isFailure(yield* onHost(chargeNow("late"))))
          assert.deepStrictEqual([yield* onHost(creditsNow), yield* onHost(expireNow)], [0, {
            lots: 1,
            credits: 100,
            holds: 0
          }])
        }))

      it.effect(`count a charge to the same day if a clock is off by ${millis} ms`, () =>
        Effect.gen(function*() {
          const ledger = yield* Ledger
          const midnight = Date.UTC(2031, 0, 2) + (millis > 0 ? 0 : 86_400_000)
          const chargeNow = (reference: string) =>
            Effect.flatMap(DateTime.now, (at) => {
              const amount = { _tag: "Quota", kind: "image", limit: 1 } as const
              return Effect.result(ledger.charge({ account, reference, amount, at }))
            })
          const checkNow = Effect.flatMap(DateTime.now, (at) => {
            const amount = { _tag: "Quota", kind: "image", limit: 1 } as const
            return Effect.result(ledger.check({ account, amount, at }))
          })
          const todayNow = Effect.map(
            Effect.flatMap(DateTime.now, (at) => ledger.balances(account, at)),
            ({ day, quotaUsed, resetsAt }) => [day, DateTime.formatIso(resetsAt), quotaUsed.get("image") ?? 0]
          )
          for (const time of [midnight - 1, midnight]) {
            yield* TestClock.setTime(time)
            assert.isTrue(Result.isSuccess(yield* onHost(checkNow)))
            assert.deepStrictEqual(yield* onHost(todayNow), yield* todayNow)
            assert.isTrue(Result.isSuccess(yield* onHost(chargeNow(`skewed ${time}`))))
            assert.strictEqual(tagOf(yield* onHost(checkNow)), "QuotaExceeded")
            assert.deepStrictEqual(yield* onHost(todayNow), yield* todayNow)
            const refused = yield* chargeNow(`right ${time}`)
            assert.strictEqual(tagOf(refused), "QuotaExceeded")
            const again = yield* onHost(chargeNow(`again ${time}`))
            assert.strictEqual(tagOf(again), "QuotaExceeded")
          }
        }))
    }
  })

  layer(Backends.over(database))(`Tables of the ledger (${name})`, (it) => {
    it.effect("reveal by verify which stored figure was tampered with", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const account = "tampered"
        const { lot } = yield* openAccount(account)
        yield* sql`UPDATE ledger_lot SET remaining = 71, granted = 101 WHERE account = ${account}`
        yield* sql`UPDATE ledger_quota SET used = 0 WHERE account = ${account}`
        assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [
          { account, figure: "granted", subject: lot, booked: 100, kept: 101 },
          { account, figure: "remaining", subject: lot, booked: 70, kept: 71 },
          { account, figure: "used", subject: "quota:image:2026-11-20", booked: 1, kept: 0 }
        ])
        yield* sql`DELETE FROM ledger_lot WHERE account = ${account}`
        yield* sql`DELETE FROM ledger_quota WHERE account = ${account}`
        const { accounts, discrepancies } = yield* ledger.verify({ discrepanciesMax: 1 })
        assert.deepStrictEqual(discrepancies, [
          { account, figure: "remaining", subject: lot, booked: 70, kept: null }
        ])
        assert.isAtLeast(accounts, 1)
      }))

    it.effect("reveal by verify that an entry was tampered with, and a lot without a grant", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const account = "forged"
        const { charge, lot } = yield* openAccount(account)
        const id = TransactionId.toUuid(charge.id)
        yield* sql`ALTER TABLE ledger_entry DISABLE TRIGGER ledger_entry_append_only`
        yield* sql`UPDATE ledger_entry SET amount = 20 WHERE transaction_id = ${id}`
        yield* sql`ALTER TABLE ledger_entry ENABLE TRIGGER ledger_entry_append_only`
        const forged = LotId.fromUuid("01890a5d-ac96-774b-8000-000000000000")
        yield* sql`
          INSERT INTO ledger_lot (
            id, account, kind, granted, remaining, opened_at, expires_at, images_only, watermark, closed, opened_by
          )
          SELECT ${LotId.toUuid(forged)}::uuid, account, kind, 9, 9, opened_at, expires_at,
            images_only, watermark, closed, opened_by
          FROM ledger_lot
          WHERE id = ${LotId.toUuid(lot)}
        `
        const { discrepancies } = yield* ledger.verify({ account })
        assert.deepStrictEqual(discrepancies, [
          { account, figure: "amount", subject: charge.id, booked: 20, kept: 30 },
          { account, figure: "granted", subject: forged, booked: null, kept: 9 },
          { account, figure: "remaining", subject: lot, booked: 80, kept: 70 },
          { account, figure: "remaining", subject: forged, booked: null, kept: 9 }
        ])
      }))

    it.effect("reveal by verify that an entry is missing or was duplicated", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const planted = Effect.fnUntraced(
          function*(account: string, plant: (id: string) => Effect.Effect<unknown, unknown>) {
            const { charge, lot } = yield* openAccount(account)
            yield* sql`ALTER TABLE ledger_entry DISABLE TRIGGER ledger_entry_append_only`
            yield* plant(TransactionId.toUuid(charge.id))
            yield* sql`ALTER TABLE ledger_entry ENABLE TRIGGER ledger_entry_append_only`
            return { charge, lot, discrepancies: (yield* ledger.verify({ account })).discrepancies }
          }
        )
        const missing = yield* planted("missing", (id) => sql`DELETE FROM ledger_entry WHERE transaction_id = ${id}`)
        assert.deepStrictEqual(missing.discrepancies, [
          { account: "missing", figure: "amount", subject: missing.charge.id, booked: 0, kept: 30 },
          { account: "missing", figure: "remaining", subject: missing.lot, booked: 100, kept: 70 }
        ])
        const doubled = yield* planted("doubled", (id) =>
          sql`
            INSERT INTO ledger_entry (transaction_id, line, from_book, to_book, amount)
            SELECT transaction_id, line + 1, from_book, to_book, amount FROM ledger_entry WHERE transaction_id = ${id}
          `)
        assert.deepStrictEqual(doubled.discrepancies, [
          { account: "doubled", figure: "amount", subject: doubled.charge.id, booked: 60, kept: 30 },
          { account: "doubled", figure: "remaining", subject: doubled.lot, booked: 40, kept: 70 }
        ])
      }))

    it.effect("reject statements that break an invariant", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const account = "guarded"
        const { charge } = yield* openAccount(account)
        const refundOf = (amount: number, reference: string) =>
          sql`
            INSERT INTO ledger_transaction (id, account, kind, reference, at, amount, reverses)
            VALUES (gen_random_uuid(), ${account}, 'refund', ${reference}, ${DateTime.toDateUtc(at)}, ${amount},
              ${TransactionId.toUuid(charge.id)})
          `
        const refusedBy = (write: Effect.Effect<unknown, unknown>) =>
          Effect.map(Effect.exit(write), (exit) => exit._tag === "Failure")
        const attempts = [
          sql`UPDATE ledger_lot SET remaining = -1 WHERE account = ${account}`,
          sql`UPDATE ledger_lot SET remaining = 101 WHERE account = ${account}`,
          sql`UPDATE ledger_lot SET closed = true WHERE account = ${account}`,
          sql`UPDATE ledger_quota SET used = -1 WHERE account = ${account}`,
          sql`UPDATE ledger_transaction SET amount = 1 WHERE account = ${account}`,
          sql`DELETE FROM ledger_transaction WHERE account = ${account}`,
          sql`UPDATE ledger_entry SET amount = 1`,
          sql`DELETE FROM ledger_entry`,
          sql`TRUNCATE ledger_entry`,
          refundOf(31, "job"),
          refundOf(29, "job")
        ]
        assert.deepStrictEqual(yield* Effect.forEach(attempts, refusedBy), attempts.map(() => true))
        yield* ledger.refund({ account, reference: "job", part: { reference: "a", credits: 10 }, at })
        const excessive = [refundOf(21, "job\nb"), refundOf(19, "job"), refundOf(30, "job"), refundOf(20, "other\nb")]
        assert.deepStrictEqual(yield* Effect.forEach(excessive, refusedBy), excessive.map(() => true))
        yield* ledger.refund({ account, reference: "job", at })
        assert.isTrue(yield* refusedBy(refundOf(30, "job once more")))
        assert.isTrue(yield* refusedBy(refundOf(1, "job\nc")))
        assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
      }))

    it.effect("need as many statements for 64 charges or refunds as for one", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = "counted"
        yield* openAccount(account)
        const commands = Array.from({ length: 65 }, (_, n) => ({
          account,
          reference: `${n}`,
          amount: { _tag: "Credits", credits: 1 } as const,
          at
        }))
        assert.strictEqual(yield* countStatements(ledger.chargeAll(commands.slice(0, 1))), 3)
        assert.strictEqual(yield* countStatements(ledger.chargeAll(commands.slice(1))), 3)
        assert.strictEqual(yield* countStatements(ledger.refundAll(commands)), 3)
        assert.strictEqual(yield* countStatements(ledger.refundAll(commands)), 2)
      }))
  })
}
