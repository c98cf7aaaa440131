/** Terms of lots and metadata in SQL, also beside a build that has neither. */
import { assert, layer } from "@effect/vitest"
import { Migrations } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { after, chargeOf, grantOf, noon, refusalOf } from "../src/internal/contract/commands.ts"
import { LotId } from "../src/internal/ids.ts"
import * as Ledger from "../src/Ledger.ts"
import { LedgerStore } from "../src/LedgerStore.ts"
import * as SqlLedgerStore from "../src/SqlLedgerStore.ts"
import * as Backends from "./Backends.ts"
import * as LotTermsContract from "./LotTermsContract.ts"
import * as NotesContract from "./NotesContract.ts"

const account = "early"

interface EarlyLot {
  readonly id: LotId
  readonly kind: string
  readonly imagesOnly: boolean
  readonly watermark: boolean
}

/** The rows of a grant of 10 credits as the earlier build inserts them. */
const grant = ({ id, imagesOnly, kind, watermark }: EarlyLot) =>
  SqlClient.SqlClient.use((sql) =>
    sql`
      WITH booked AS (
        INSERT INTO ledger_transaction ("id", "account", "kind", "at", "amount", "reference", "reverses")
        SELECT gen_random_uuid(), ${account}, 'grant', ${DateTime.toDateUtc(noon)}, 10, ${id}, NULL
        RETURNING id
      ), opened AS (
        INSERT INTO ledger_lot (
          "id", "account", "kind", "granted", "remaining", "watermark", "closed", "opened_at", "expires_at", "images_only",
          "opened_by"
        )
        SELECT ${LotId.toUuid(id)}::uuid, ${account}, ${kind}, 10, 10, ${watermark}, false, ${DateTime.toDateUtc(noon)},
          ${DateTime.toDateUtc(after({ days: 30 }))}, ${imagesOnly}, id
        FROM booked
      )
      INSERT INTO ledger_entry ("transaction_id", "line", "from_book", "to_book", "amount")
      SELECT id, 0, ${`source:${kind}`}, ${`lot:${LotId.toUuid(id)}`}, 10 FROM booked
    `
  )

const idOf = (n: number) => LotId.fromUuid(`01890a5d-ac96-774b-8000-00000000000${n}`)

const lots: ReadonlyArray<EarlyLot> = [
  { id: idOf(0), kind: "trial", imagesOnly: false, watermark: true },
  { id: idOf(1), kind: "addon", imagesOnly: true, watermark: false },
  { id: idOf(2), kind: "plan", imagesOnly: false, watermark: false }
]

/** Reads lots as the earlier build does. */
const readEarly = SqlClient.SqlClient.use((sql) =>
  sql<{ id: string; kind: string; imagesOnly: boolean; watermark: boolean }>`
    SELECT id, kind, images_only AS "imagesOnly", watermark FROM ledger_lot WHERE account = ${account} ORDER BY id
  `
).pipe(Effect.map((rows) => rows.map((row) => ({ ...row, id: LotId.fromUuid(row.id) }))))

for (const [name, database] of TestDatabase.all) {
  LotTermsContract.suite(name, Backends.over(database, LotTermsContract.options))
  NotesContract.suite(name, Backends.over(database))

  layer(database)(`Lots of an earlier build (${name})`, (it) => {
    it.effect("keep their meaning after the migration, and those that it opens later too", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const earlier = Object.fromEntries(
          Object.entries(SqlLedgerStore.migrations.migrations).filter(([name]) => name < "0005")
        )
        yield* Migrations.run([{ ...SqlLedgerStore.migrations, migrations: earlier }])
        yield* sql`INSERT INTO ledger_account VALUES (${account})`
        for (const lot of lots.slice(0, 2)) yield* grant(lot)
        const before = yield* LedgerStore.use(({ audit }) => audit({ accounts: [account], discrepanciesMax: 10 })).pipe(
          Effect.provide(SqlLedgerStore.layer)
        )
        assert.deepStrictEqual([before.totals.granted, before.discrepancies], [20, []])

        yield* Effect.gen(function*() {
          const ledger = yield* Ledger.Ledger
          // The earlier build continues beside this one.
          for (const lot of lots.slice(2)) yield* grant(lot)
          const balances = yield* ledger.balances(account, noon)
          assert.deepStrictEqual(
            balances.lots.map(({ id, kind, labels, purpose }) => ({ id, kind, labels, purpose })),
            [
              { id: idOf(1), kind: "addon", purpose: "image", labels: [] },
              { id: idOf(2), kind: "plan", purpose: undefined, labels: [] },
              { id: idOf(0), kind: "trial", purpose: undefined, labels: ["watermark"] }
            ]
          )
          assert.strictEqual(
            (yield* refusalOf(ledger.charge(chargeOf(account, "video", 11))))._tag,
            "InsufficientCredits"
          )
          const terms = { purpose: "image", kindsAllowed: ["trial"] }
          const charged = yield* ledger.charge(chargeOf(account, "image", 21, terms))
          assert.deepInclude(charged, {
            labels: ["watermark"],
            parts: [{ lot: idOf(1), credits: 10 }, { lot: idOf(2), credits: 10 }, { lot: idOf(0), credits: 1 }]
          })
          yield* ledger.refund({ account, reference: "image", at: noon })
          assert.deepStrictEqual(yield* readEarly, lots)

          const { lot } = yield* ledger.grant(
            grantOf(account, 1, { kind: "trial", purpose: "image", labels: ["watermark"] })
          )
          const other = yield* ledger.grant(
            grantOf(account, 1, { reference: "voice", purpose: "voice", labels: ["beta"] })
          )
          assert.deepStrictEqual((yield* readEarly).filter(({ id }) => lots.every((early) => early.id !== id)), [
            { id: lot.id, kind: "trial", imagesOnly: true, watermark: true },
            { id: other.lot.id, kind: "plan", imagesOnly: true, watermark: false }
          ])
          const { discrepancies, totals } = yield* ledger.verify()
          assert.deepStrictEqual(totals, { granted: 32, remaining: 32, held: 0, consumed: 0, expired: 0 })
          assert.deepStrictEqual(discrepancies, [])
        }).pipe(Effect.provide(Ledger.layerPostgres()))
      }))
  })

  layer(Backends.over(database))(`Tables of lots (${name})`, (it) => {
    it.effect("reject statements that break an invariant", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger.Ledger
        const sql = yield* SqlClient.SqlClient
        yield* ledger.grant(grantOf(account, 10, { purpose: "image", labels: ["a"], metadata: { a: 1 } }))
        const attempts = [
          sql`UPDATE ledger_lot SET kind = ''`,
          sql`UPDATE ledger_lot SET kind = ${"x".repeat(65)}`,
          sql`UPDATE ledger_lot SET purpose = ''`,
          sql`UPDATE ledger_lot SET images_only = false`,
          sql`UPDATE ledger_lot SET labels = '{}'`,
          sql`
            INSERT INTO ledger_transaction (id, account, kind, reference, at, amount, metadata)
            VALUES (gen_random_uuid(), ${account}, 'charge', 'job', ${DateTime.toDateUtc(noon)}, 0, '[]')
          `
        ]
        for (const attempt of attempts) assert.strictEqual((yield* Effect.exit(attempt))._tag, "Failure")
        assert.strictEqual((yield* ledger.balances(account, noon)).lots.length, 1)
      }))
  })
}
