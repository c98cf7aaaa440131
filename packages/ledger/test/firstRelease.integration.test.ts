/** The books of the first release, which are migrated and continued. */
import { assert, layer } from "@effect/vitest"
import { Migrations } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readFile } from "node:fs/promises"
import { after, chargeOf, grantOf, quotaChargeOf, refusalOf } from "../src/internal/contract/commands.ts"
import * as Ledger from "../src/Ledger.ts"
import * as SqlLedgerStore from "../src/SqlLedgerStore.ts"

/**
 * All rows that the build with the migration `0001_books` wrote: charges to one lot, to two lots and to a quota, refunds, also after
 * the expiry of the lot, an expired lot and a revoked one.
 */
const rows = Effect.promise(async (): Promise<Readonly<Record<string, ReadonlyArray<object>>>> =>
  JSON.parse(await readFile(new URL("firstRelease.json", import.meta.url), "utf8"))
)

/** Creates the tables of the first release with its rows. */
const createEarly = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const earliest = Object.entries(SqlLedgerStore.migrations.migrations).filter(([name]) => name === "0001_books")
  yield* Migrations.run([{ ...SqlLedgerStore.migrations, indexes: {}, migrations: Object.fromEntries(earliest) }])
  for (const [table, values] of Object.entries(yield* rows)) {
    yield* sql`
      INSERT INTO ${sql(table)} SELECT * FROM json_populate_recordset(NULL::${sql(table)}, ${
      JSON.stringify(values)
    }::json)
    `
  }
})

/** Totals of the books, and the lots and quotas whose stored figures differ from them. */
const audit = SqlClient.SqlClient.use((sql) =>
  sql`
    WITH side AS (
      SELECT to_book AS book, amount FROM ledger_entry UNION ALL SELECT from_book, -amount FROM ledger_entry
    ), balance AS (
      SELECT book, sum(amount)::int AS booked FROM side GROUP BY book
    )
    SELECT
      (SELECT -sum(booked)::int FROM balance WHERE book LIKE 'source:%') AS granted,
      (SELECT sum(remaining)::int FROM ledger_lot) AS remaining,
      (SELECT booked FROM balance WHERE book = 'consumed') AS consumed,
      (SELECT booked FROM balance WHERE book = 'expired') AS expired,
      (
        SELECT count(*)::int FROM ledger_lot FULL JOIN (SELECT * FROM balance WHERE book LIKE 'lot:%') AS booked
          ON booked.book = 'lot:' || ledger_lot.id
        WHERE booked IS DISTINCT FROM remaining
      ) AS differences
  `
).pipe(Effect.map(([row]) => row))

const totals = { granted: 182, remaining: 35, consumed: 122, expired: 25 }

for (const [name, database] of TestDatabase.all) {
  layer(database)(`Books of the first release (${name})`, (it) => {
    it.effect("are balanced before and after all migrations, and continue", () =>
      Effect.gen(function*() {
        yield* createEarly
        assert.deepStrictEqual(yield* audit, { ...totals, differences: 0 })
        yield* Effect.gen(function*() {
          const ledger = yield* Ledger.Ledger
          const verified = yield* ledger.verify()
          assert.deepStrictEqual(verified.totals, { ...totals, held: 0 })
          assert.deepStrictEqual(verified.discrepancies, [])
          const at = after({ days: 2 })
          const { lots } = yield* ledger.balances("ada", at)
          assert.deepStrictEqual(
            lots.map(({ kind, labels, purpose, remaining }) => ({ kind, labels, purpose, remaining })),
            [
              { kind: "trial", labels: ["watermark"], purpose: undefined, remaining: 3 },
              { kind: "addon", labels: [], purpose: "image", remaining: 20 }
            ]
          )

          // References of the first release count.
          assert.strictEqual((yield* refusalOf(ledger.charge(chargeOf("ada", "free-1", 1))))._tag, "AlreadyCharged")
          const again = yield* ledger.grant(grantOf("ada", 100, { reference: "plan-1", at }))
          assert.strictEqual(again.lot.granted, 100)
          yield* ledger.refund({ account: "ada", reference: "image-2", at })
          assert.deepStrictEqual((yield* ledger.verify()).totals, { ...totals, held: 0 })

          // Its charges are refunded, also in parts, and lots of both builds pay.
          yield* ledger.refund({ account: "ada", reference: "image-1", part: { reference: "a", credits: 15 }, at })
          yield* ledger.refund({ account: "ada", reference: "image-1", at })
          yield* ledger.refund({ account: "ada", reference: "quota-1", at })
          yield* ledger.grant(grantOf("ada", 10, { reference: "voice", purpose: "voice", labels: ["beta"], at }))
          yield* ledger.charge(chargeOf("ada", "image-3", 143, { purpose: "image", kindsAllowed: ["trial"], at }))
          yield* ledger.charge(quotaChargeOf("grace", "quota-1", 10, at, "image", 3))
          const { discrepancies, totals: later } = yield* ledger.verify()
          assert.deepStrictEqual(later, { granted: 192, remaining: 22, held: 0, consumed: 145, expired: 25 })
          assert.deepStrictEqual(discrepancies, [])
        }).pipe(Effect.provide(Ledger.layerPostgres()))
      }))
  })
}
