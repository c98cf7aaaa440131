/** Books that a build without refunds of parts has written. */
import { assert, layer } from "@effect/vitest"
import { Migrations } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Ledger from "../src/Ledger.ts"
import * as SqlLedgerStore from "../src/SqlLedgerStore.ts"

const at = DateTime.makeUnsafe("2026-11-20T12:00:00.000Z")
const account = "early"

/** A row as the earlier build inserts it. */
const book = (kind: string, reference: string, amount: number, from: string, to: string) =>
  SqlClient.SqlClient.use((sql) =>
    sql`
      WITH booked AS (
        INSERT INTO ledger_transaction (id, account, kind, reference, at, amount, reverses)
        SELECT gen_random_uuid(), ${account}, ${kind}, ${reference}, ${DateTime.toDateUtc(at)}, ${amount}::int8, (
          SELECT id FROM ledger_transaction AS charge
          WHERE ${kind} = 'refund' AND charge.reference = ${reference} AND charge.kind = 'charge'
        )
        RETURNING id
      )
      INSERT INTO ledger_entry (transaction_id, line, from_book, to_book, amount)
      SELECT id, 0, ${from}, ${to}, ${amount}::int8 FROM booked
    `
  )

const lot = "lot:01890a5d-ac96-774b-8000-000000000000"

for (const [name, database] of TestDatabase.all) {
  layer(database)(`Books of an earlier build (${name})`, (it) => {
    it.effect("are sound after the migration, and their charges can be refunded in parts", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { migrations, ...others } = SqlLedgerStore.migrations
        yield* Migrations.run([{ ...others, migrations: { "0001_books": migrations["0001_books"]! } }])
        yield* sql`INSERT INTO ledger_account VALUES (${account})`
        yield* book("grant", "start", 100, "source:plan", lot)
        yield* sql`
          INSERT INTO ledger_lot
          SELECT substr(${lot}, 5)::uuid, ${account}, 'plan', 100, 70, ${DateTime.toDateUtc(at)},
            ${DateTime.toDateUtc(DateTime.add(at, { days: 30 }))}, false, false, false, id
          FROM ledger_transaction
        `
        yield* book("charge", "refunded", 20, lot, "consumed")
        yield* book("charge", "job", 30, lot, "consumed")
        yield* book("charge", "next", 10, lot, "consumed")
        yield* book("refund", "refunded", 20, "consumed", lot)
        yield* sql`UPDATE ledger_lot SET remaining = 60`

        yield* Effect.gen(function*() {
          const ledger = yield* Ledger.Ledger
          assert.deepStrictEqual((yield* ledger.verify()).discrepancies, [])
          const part = (reference: string) =>
            ledger.refund({ account, reference, part: { reference: "a", credits: 5 }, at })
          assert.strictEqual((yield* part("job"))._tag, "Refunded")
          assert.strictEqual((yield* Effect.result(part("refunded")))._tag, "Failure")
          // The earlier build continues to refund whole charges, and cannot refund a part twice.
          yield* book("refund", "next", 10, "consumed", lot)
          yield* sql`UPDATE ledger_lot SET remaining = remaining + 10`
          assert.strictEqual((yield* Effect.exit(book("refund", "job", 30, "consumed", lot)))._tag, "Failure")
          assert.deepStrictEqual(yield* ledger.refund({ account, reference: "next", at }), { _tag: "AlreadyRefunded" })
          yield* ledger.refund({ account, reference: "job", at })
          const { discrepancies, totals } = yield* ledger.verify({ account })
          assert.deepStrictEqual(totals, { granted: 100, remaining: 100, held: 0, consumed: 0, expired: 0 })
          assert.deepStrictEqual(discrepancies, [])
        }).pipe(Effect.provide(Ledger.layerPostgres()))
      }))
  })
}
