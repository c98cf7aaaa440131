/** The statements that lock accounts and read their books. */
import { DateTime, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Day } from "../Day.ts"
import type { TransactionName, TransactionsQuery } from "../LedgerStore.ts"
import { LotId } from "../Lot.ts"
import { TransactionId } from "../Transaction.ts"
import * as Row from "./LedgerRow.ts"

/**
 * Locks the accounts in the order of their ids, after making those that are new.
 *
 * Making one while others are locked can meet a unit that does the reverse. The
 * database then undoes one of the two, and its unit runs again.
 */
export const makeLock = (sql: SqlClient.SqlClient) => {
  const lockExisting = (accounts: ReadonlyArray<string>) =>
    sql`
      SELECT id
      FROM ledger_account
      WHERE id = ANY(${accounts}::text[])
      ORDER BY id
      FOR UPDATE
    `
  const create = (accounts: ReadonlyArray<string>) =>
    sql`
      INSERT INTO ledger_account (id)
      SELECT id
      FROM unnest(${accounts}::text[]) AS account (id)
      ORDER BY id
      ON CONFLICT (id) DO NOTHING
    `
  return Effect.fnUntraced(function*(accounts: ReadonlyArray<string>) {
    const locked = yield* lockExisting(accounts)
    if (locked.length === accounts.length) return
    yield* create(accounts)
    yield* lockExisting(accounts)
  })
}

/** The transactions of these names, with their entries. */
export const makeFindNamed = (sql: SqlClient.SqlClient) => (names: ReadonlyArray<TransactionName>) =>
  sql`
    SELECT id, account, kind, reference, at, amount::float8 AS amount, reverses, ${entriesOf(sql)} AS entries
    FROM unnest(
      ${names.map(({ account }) => account)}::text[],
      ${names.map(({ reference }) => reference)}::text[],
      ${names.map(({ kind }) => kind)}::text[]
    ) AS name (account, reference, kind)
    JOIN ledger_transaction AS booked USING (account, reference, kind)
  `.pipe(Effect.flatMap(decodeTransactions), Effect.map((rows) => rows.map(Row.toTransaction)))

/** An account's transactions, the newest id first. */
export const makeFindTransactions =
  (sql: SqlClient.SqlClient) => ({ account, before, limit, reference }: TransactionsQuery) =>
    sql`
      SELECT id, account, kind, reference, at, amount::float8 AS amount, reverses, ${entriesOf(sql)} AS entries
      FROM ledger_transaction AS booked
      WHERE account = ${account}
        AND (${reference ?? null}::text IS NULL OR reference = ${reference ?? null})
        AND id < ${before === undefined ? lastUuid : TransactionId.toUuid(before)}::uuid
      ORDER BY id DESC
      LIMIT ${limit}
    `.pipe(Effect.flatMap(decodeTransactions), Effect.map((rows) => rows.map(Row.toTransaction)))

/** Which lots to find: those of `ids`, and those of the accounts that hold something and expire later. */
export interface LotsQuery {
  readonly ids: ReadonlyArray<LotId>
  readonly accounts: ReadonlyArray<string>
  readonly liveAfter: DateTime.Utc
  readonly liveMax: number
}

/** Each of the lots once. */
export const makeFindLots = (sql: SqlClient.SqlClient) => ({ accounts, ids, liveAfter, liveMax }: LotsQuery) =>
  sql`
    SELECT id, account, kind, granted::float8 AS granted, remaining::float8 AS remaining,
      opened_at, expires_at, images_only, watermark, closed, opened_by
    FROM ledger_lot
    WHERE id = ANY(${ids.map(LotId.toUuid)}::uuid[])
    UNION
    SELECT live.*
    FROM unnest(${accounts}::text[]) AS wanted (account)
    CROSS JOIN LATERAL (
      SELECT id, account, kind, granted::float8, remaining::float8,
        opened_at, expires_at, images_only, watermark, closed, opened_by
      FROM ledger_lot
      WHERE ledger_lot.account = wanted.account
        AND NOT closed
        AND expires_at > ${DateTime.toDateUtc(liveAfter)}
        AND remaining > 0
      ORDER BY expires_at, id
      LIMIT ${liveMax}
    ) AS live
  `.pipe(Effect.flatMap(decodeLots), Effect.map((rows) => rows.map(Row.toLot)))

/** Which counters to find: those of the days from `first` to `last`, and of the days that are `counted`. */
export interface QuotasQuery {
  readonly accounts: ReadonlyArray<string>
  readonly days: { readonly first: Day; readonly last: Day }
  readonly counted: ReadonlyArray<Day>
}

/** The accounts' counters of some days. */
export const makeFindQuotas = (sql: SqlClient.SqlClient) => ({ accounts, counted, days }: QuotasQuery) =>
  sql`
    SELECT account, kind, day, used::float8 AS used
    FROM ledger_quota
    WHERE account = ANY(${accounts}::text[])
      AND (day BETWEEN ${days.first}::date AND ${days.last}::date OR day = ANY(${counted}::date[]))
  `.pipe(Effect.flatMap(decodeQuotas), Effect.map((rows) => rows.map(Row.toQuota)))

/** Lots whose expiry waits to be booked, the oldest first. */
export const makeFindExpired = (sql: SqlClient.SqlClient) => (at: DateTime.Utc, limit: number) =>
  sql`
    SELECT id, account
    FROM ledger_lot
    WHERE NOT closed AND expires_at <= ${DateTime.toDateUtc(at)}
    ORDER BY expires_at, id
    LIMIT ${limit}
  `.pipe(
    Effect.flatMap(decodeExpired),
    Effect.map((rows) => rows.map(({ account, id }) => ({ account, lot: LotId.fromUuid(id) })))
  )

/** Accounts after one, in order. */
export const makeFindAccounts = (sql: SqlClient.SqlClient) => (after: string, limit: number) =>
  sql`
    SELECT id
    FROM ledger_account
    WHERE id > ${after}
    ORDER BY id
    LIMIT ${limit}
  `.pipe(Effect.flatMap(decodeIds), Effect.map((rows) => rows.map(({ id }) => id)))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Not the id of anything: the variant bits of a UUIDv7 are others. */
const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff"

/** The entries of the transaction that the statement calls `booked`. */
const entriesOf = (sql: SqlClient.SqlClient) =>
  sql`(
    SELECT coalesce(
      jsonb_agg(jsonb_build_object('from', from_book, 'to', to_book, 'amount', entry.amount) ORDER BY line),
      '[]'
    )
    FROM ledger_entry AS entry
    WHERE entry.transaction_id = booked.id
  )`

const decodeTransactions = Schema.decodeUnknownEffect(Schema.Array(Row.TransactionRow))
const decodeLots = Schema.decodeUnknownEffect(Schema.Array(Row.LotRow))
const decodeQuotas = Schema.decodeUnknownEffect(Schema.Array(Row.QuotaRow))
const decodeExpired = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ id: Schema.String, account: Schema.String }))
)
const decodeIds = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ id: Schema.String })))
