/** Finds transactions, lots, counters and holds, for units of work and for balances. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { Clock, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Day } from "../Day.ts"
import { LotId } from "../ids.ts"
import type { Loaded, LoadQuery, QuotaCount } from "../stored.ts"
import { decodeHolds, decodeOpenHolds, holdsOfCharges, openHoldsOf } from "./holdRow.ts"
import { decodeLots, lotColumns, noLot } from "./lotRow.ts"
import { decodeTransactions, hasReference, transactionColumns } from "./transactionRow.ts"

/** A query by days of the database instead of times. */
interface BooksQuery extends Omit<LoadQuery, "days"> {
  readonly days: { readonly first: Day; readonly last: Day }
  /** Whether to return how far the clock of the database is ahead. Default `false`. */
  readonly readsClock?: boolean
}

/**
 * Finds the named transactions, of a refund all of its charge, with the lots and counters that their entries touch, the
 * lots of `lots`, up to `liveMax` lots per account that are not empty and expire after
 * `liveAfter`, the counters of `days`, the holds with the references of the named charges, and the sums of the open holds of
 * `holdsOf`.
 *
 * One statement, because in each further round trip of a unit of work its locks wait for
 * the client.
 */
export const findBooks = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, query: BooksQuery) {
  const sentAt = yield* Clock.currentTimeMillis
  const rows = yield* select(sql, query)
  const rowsOf = (source: string) => rows.filter((row) => row.source === source).map(({ other }) => other)
  const [now] = yield* decodeClock(rowsOf("clock"))
  const found: Loaded = {
    lots: yield* decodeLots(rows.filter(({ id }) => id !== null)),
    quotas: (yield* decodeQuotas(rowsOf("quota"))).map(toQuota),
    transactions: yield* decodeTransactions(rowsOf("transaction")),
    holds: yield* decodeHolds(rowsOf("hold")),
    openHolds: yield* decodeOpenHolds(rowsOf("open holds")),
    aheadMillis: now && Math.round(now - sentAt)
  }
  return found
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A lot, or a row of another table, which is JSON since a set has many more lots than other rows. */
interface FoundRow {
  /** Null unless the row is a lot. */
  readonly id: string | null
  /** Null if the row is a lot. */
  readonly source: string | null
  readonly other: Schema.Json
}

const accountColumns: Rows.Columns<string> = { account: ["text", (account) => account] }

const select = (sql: SqlClient.SqlClient, query: BooksQuery) =>
  Effect.flatMap(DatabaseTime.hostClock, ({ now, toDatabase }) =>
    sql<FoundRow>`
    WITH name AS MATERIALIZED (
      SELECT account, reference, kind
      FROM ${Rows.table("name", query.transactions, nameColumns, { unknownLength: true })}
    ), named AS MATERIALIZED (
      SELECT ${transactionColumns(sql)}
      FROM name
      JOIN ledger_transaction AS booked USING (account, reference, kind)
      WHERE kind <> 'refund'
      UNION ALL
      SELECT refund.*
      FROM name
      CROSS JOIN LATERAL (
        SELECT ${transactionColumns(sql)}
        FROM ledger_transaction AS booked
        WHERE booked.account = name.account AND booked.kind = 'refund' AND ${hasReference(sql, sql`name.reference`)}
      ) AS refund
      WHERE name.kind = 'refund'
    ), touched AS (
      SELECT side.book
      FROM named
      CROSS JOIN LATERAL jsonb_to_recordset(named.entries) AS entry ("from" text, "to" text)
      CROSS JOIN LATERAL (VALUES (entry."from"), (entry."to")) AS side (book)
    ), lot AS (
      SELECT ${lotColumns(sql)}
      FROM ledger_lot
      -- An array, since the planner cannot estimate the rows of \`touched\`, and reads the whole table for a join.
      WHERE id = ANY(
        ${Rows.array("uuid", query.lots.map(LotId.toUuid), { unknownLength: true })}
        || ARRAY(SELECT substr(book, length('lot:') + 1)::uuid FROM touched WHERE book LIKE 'lot:%')
      )
      UNION
      SELECT live.*
      FROM ${Rows.table("wanted", query.accounts, accountColumns, { unknownLength: true })}
      CROSS JOIN LATERAL (
        SELECT ${lotColumns(sql)}
        FROM ledger_lot
        WHERE ledger_lot.account = wanted.account
          AND NOT closed
          AND expires_at > ${toDatabase(query.liveAfter)}
          AND remaining > 0
        ORDER BY expires_at, id
        LIMIT ${query.liveMax}
      ) AS live
    ), quota AS (
      SELECT account, kind, day, used::float8 AS used
      FROM ledger_quota
      WHERE account = ANY(${Rows.array("text", query.accounts, { unknownLength: true })})
        AND (
          day BETWEEN ${query.days.first}::date AND ${query.days.last}::date
          OR day = ANY(ARRAY(SELECT right(book, length('YYYY-MM-DD'))::date FROM touched WHERE book LIKE 'quota:%'))
        )
    )
    SELECT lot.*, NULL AS source, NULL::json AS other FROM lot
    UNION ALL
    SELECT ${noLot(sql)}, 'quota', to_json(quota) FROM quota
    UNION ALL
    SELECT ${noLot(sql)}, 'transaction', to_json(named) FROM named
    ${selectHolds(sql, query)}
    ${
      query.readsClock === true
        ? sql`UNION ALL SELECT ${noLot(sql)}, 'clock', to_json((extract(epoch FROM ${now}) * 1000)::float8)`
        : sql.literal("")
    }
  `)

/** Selects holds, if there are any to find, since units without holds should not pay for the larger statement. */
const selectHolds = (sql: SqlClient.SqlClient, { holdsOf, transactions }: BooksQuery) =>
  sql`
    ${
    transactions.some(({ kind }) => kind === "charge")
      ? sql`UNION ALL SELECT ${noLot(sql)}, 'hold', to_json(hold) FROM (${holdsOfCharges(sql)}) AS hold`
      : sql.literal("")
  }
    ${
    holdsOf.length > 0
      ? sql`UNION ALL SELECT ${noLot(sql)}, 'open holds', to_json(held) FROM (${openHoldsOf(sql, holdsOf)}) AS held`
      : sql.literal("")
  }
  `

const nameColumns = Rows.fields({ account: "text", reference: "text", kind: "text" })

const QuotaRow = Schema.Struct({
  account: Schema.String,
  kind: Schema.String,
  day: Schema.String,
  used: Schema.Int
})

const decodeQuotas = Schema.decodeUnknownEffect(Schema.Array(QuotaRow))

const decodeClock = Schema.decodeUnknownEffect(Schema.Array(Schema.Finite))

const toQuota = (row: typeof QuotaRow.Type): QuotaCount => ({ ...row, day: row.day as Day }) // a `date` column
