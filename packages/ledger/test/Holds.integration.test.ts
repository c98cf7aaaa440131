import { assert, layer } from "@effect/vitest"
import { DatabaseTime } from "@kinora/persistence"
import { SkewedClock, TestDatabase } from "@kinora/testkit"
import { DateTime, Effect, Result, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { accepted, after, chargeOf, grantOf, holdOf, noon, times } from "../src/internal/contract/commands.ts"
import { Ledger } from "../src/Ledger.ts"
import { TransactionId } from "../src/Transaction.ts"
import * as Backends from "./Backends.ts"
import * as HoldsContract from "./HoldsContract.ts"

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

for (const [name, database] of TestDatabase.all) {
  HoldsContract.suite(name, Backends.over(database))

  layer(Backends.over(database))(`Tables of holds (${name})`, (it) => {
    it.effect("need as many statements for 64 holds, captures or releases as for one", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = "counted"
        yield* ledger.grant(grantOf(account, 1_000))
        const holds = times(65).map((n) => holdOf(account, `${n}`, 3))
        const names = holds.map(({ reference }) => ({ account, reference, at: noon }))
        const captures = names.slice(0, 33).map((one) => ({ ...one, credits: 1 }))
        assert.deepStrictEqual([
          yield* countStatements(ledger.holdAll(holds.slice(0, 1))),
          yield* countStatements(ledger.holdAll(holds.slice(1))),
          yield* countStatements(ledger.captureAll(captures.slice(0, 1))),
          yield* countStatements(ledger.captureAll(captures.slice(1))),
          yield* countStatements(ledger.releaseAll(names.slice(33, 34))),
          yield* countStatements(ledger.releaseAll(names.slice(34)))
        ], [3, 3, 3, 3, 3, 3])
        // Nothing is written for commands that were repeated.
        assert.strictEqual(yield* countStatements(ledger.captureAll(captures)), 2)
        assert.strictEqual(yield* countStatements(ledger.releaseAll(names.slice(33))), 2)
        assert.strictEqual((yield* ledger.balances(account, noon)).credits, 967)
      }))

    it.effect("sweep with as many statements for 64 holds as for one, at most as many holds and lots as the limit", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = "swept"
        const at = after({ hours: 1 })
        yield* ledger.grant(grantOf(account, 100, { reference: "long" }))
        yield* accepted(ledger.grantAll(times(3).map((n) => grantOf(account, 1, { reference: `${n}`, expiresAt: at }))))
        yield* accepted(ledger.holdAll(times(65).map((n) => holdOf(account, `${n}`, 1, { expiresAt: at }))))
        const sweep = (limit: number) => ledger.expire({ at, limit })
        assert.strictEqual(yield* countStatements(sweep(1)), 4)
        assert.strictEqual(yield* countStatements(sweep(62)), 4)
        // The holds took the credits of the lots that have expired. What they return becomes new lots.
        assert.deepStrictEqual(yield* sweep(4), { holds: 2, lots: 2, credits: 0 })
        assert.deepStrictEqual(yield* sweep(4), { holds: 0, lots: 1, credits: 0 })
        assert.deepStrictEqual(yield* sweep(4), { holds: 0, lots: 0, credits: 0 })
        assert.deepInclude(yield* ledger.balances(account, at), { credits: 103, held: 0 })
      }))

    it.effect("reject statements that break an invariant, and reveal by verify what was tampered with", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const account = "guarded"
        yield* ledger.grant(grantOf(account, 100))
        yield* ledger.hold(holdOf(account, "job", 30))
        const [hold] = yield* ledger.entries({ account, reference: "job" })
        const releaseOf = (amount: number, reference = "job") =>
          sql`
            INSERT INTO ledger_transaction (id, account, kind, reference, at, amount, reverses)
            VALUES (gen_random_uuid(), ${account}, 'release', ${reference}, ${DateTime.toDateUtc(noon)}, ${amount},
              ${TransactionId.toUuid(hold!.id)})
          `
        const attempts = [
          releaseOf(29),
          releaseOf(31),
          releaseOf(30, "other"),
          sql`
            INSERT INTO ledger_transaction (id, account, kind, reference, at, amount)
            VALUES (gen_random_uuid(), ${account}, 'release', 'job', ${DateTime.toDateUtc(noon)}, 30)
          `,
          sql`UPDATE ledger_hold SET credits = -1 WHERE account = ${account}`,
          sql`UPDATE ledger_hold SET state = 'unknown' WHERE account = ${account}`
        ]
        for (const attempt of attempts) assert.strictEqual((yield* Effect.exit(attempt))._tag, "Failure")
        assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])

        const found = Effect.map(ledger.verify({ account }), ({ discrepancies }) => discrepancies)
        const held = { account, figure: "held", subject: "held:job", booked: 30 } as const
        yield* sql`UPDATE ledger_hold SET state = 'expired' WHERE account = ${account}`
        assert.deepStrictEqual(yield* found, [{ ...held, kept: 0 }])
        yield* sql`DELETE FROM ledger_hold WHERE account = ${account}`
        assert.deepStrictEqual(yield* found, [{ ...held, kept: null }])
      }))
  })

  layer(Backends.over(database))(`Holds of hosts whose clocks differ (${name})`, (it) => {
    for (const millis of [-120_000, 120_000]) {
      it.effect(`expire neither early nor late if a clock is off by ${millis} ms`, () =>
        Effect.gen(function*() {
          const ledger = yield* Ledger
          const onHost = SkewedClock.onHost(DatabaseTime.DatabaseClock, millis)
          const account = `skewed by ${millis}`
          const start = Date.UTC(2030, 0, 1, 12) + millis
          yield* TestClock.setTime(start)
          const expiresAt = DateTime.makeUnsafe(start + 86_400_000)
          yield* ledger.grant(grantOf(account, 100, { expiresAt, at: yield* DateTime.now }))
          const now = <A, E>(call: (at: DateTime.Utc) => Effect.Effect<A, E>) => Effect.flatMap(DateTime.now, call)
          const hold = (reference: string) =>
            now((at) => ledger.hold({ account, reference, credits: 10, within: "1 minute", at }))
          const capture = (reference: string) =>
            Effect.map(Effect.result(now((at) => ledger.capture({ account, reference, at }))), Result.isSuccess)
          const sweep = now((at) => ledger.expire({ at }))

          const held = yield* onHost(hold("by the host"))
          assert.strictEqual(held.expiresAt.epochMilliseconds, start + 60_000)
          yield* hold("by another")
          yield* hold("late")
          yield* TestClock.adjust("59999 millis")
          assert.deepStrictEqual(yield* onHost(sweep), { lots: 0, credits: 0, holds: 0 })
          assert.deepStrictEqual([yield* onHost(capture("by another")), yield* capture("by the host")], [true, true])
          yield* TestClock.adjust("1 millis")
          assert.isFalse(yield* onHost(capture("late")))
          assert.deepStrictEqual(yield* onHost(sweep), { lots: 0, credits: 0, holds: 1 })
          const charged = yield* Effect.result(now((at) => ledger.charge(chargeOf(account, "late", 80, { at }))))
          assert.isTrue(Result.isSuccess(charged))
        }))
    }
  })
}
