/** The statement that writes what a unit changed. */
import { DateTime } from "effect"
import type { SqlClient } from "effect/sql"
import type { Changes } from "../LedgerStore.ts"
import { LotId } from "../Lot.ts"
import { TransactionId } from "../Transaction.ts"
import { fromBook } from "./LedgerRow.ts"

/**
 * Writes all tables in one statement, whose text is the same for any set. Foreign
 * keys among its rows are looked at when it ends. What is absent is passed as an
 * empty text, and amounts as bigint: the driver takes an array's type from its
 * elements, which nulls do not have and numbers below and above 2^31 do not share.
 */
export const makeSave = (sql: SqlClient.SqlClient) => (changes: Changes) => {
  const { changedLots, openedLots, quotas, transactions } = changes
  const entries = transactions.flatMap(({ entries, id }) => entries.map((entry, line) => ({ ...entry, id, line })))
  return sql`
    WITH booked AS (
      INSERT INTO ledger_transaction (id, account, kind, reference, at, amount, reverses)
      SELECT id, account, kind, reference, at, amount, nullif(reverses, '')::uuid
      FROM unnest(
        ${transactions.map(({ id }) => TransactionId.toUuid(id))}::uuid[],
        ${transactions.map(({ account }) => account)}::text[],
        ${transactions.map(({ kind }) => kind)}::text[],
        ${transactions.map(({ reference }) => reference)}::text[],
        ${transactions.map(({ at }) => DateTime.toDateUtc(at))}::timestamptz[],
        ${transactions.map(({ amount }) => BigInt(amount))}::int8[],
        ${transactions.map(({ reverses }) => reverses === undefined ? "" : TransactionId.toUuid(reverses))}::text[]
      ) AS new (id, account, kind, reference, at, amount, reverses)
    ), opened AS (
      INSERT INTO ledger_lot (
        id, account, kind, granted, remaining, opened_at, expires_at, images_only, watermark, closed, opened_by
      )
      SELECT id, account, kind, granted, remaining, opened_at, expires_at, images_only, watermark, closed, opened_by
      FROM unnest(
        ${openedLots.map(({ id }) => LotId.toUuid(id))}::uuid[],
        ${openedLots.map(({ account }) => account)}::text[],
        ${openedLots.map(({ kind }) => kind)}::text[],
        ${openedLots.map(({ granted }) => BigInt(granted))}::int8[],
        ${openedLots.map(({ remaining }) => BigInt(remaining))}::int8[],
        ${openedLots.map(({ openedAt }) => DateTime.toDateUtc(openedAt))}::timestamptz[],
        ${openedLots.map(({ expiresAt }) => DateTime.toDateUtc(expiresAt))}::timestamptz[],
        ${openedLots.map(({ imagesOnly }) => imagesOnly)}::boolean[],
        ${openedLots.map(({ watermark }) => watermark)}::boolean[],
        ${openedLots.map(({ closed }) => closed)}::boolean[],
        ${openedLots.map(({ openedBy }) => TransactionId.toUuid(openedBy))}::uuid[]
      ) AS new (
        id, account, kind, granted, remaining, opened_at, expires_at, images_only, watermark, closed, opened_by
      )
    ), changed AS (
      UPDATE ledger_lot
      SET remaining = new.remaining, closed = new.closed
      FROM unnest(
        ${changedLots.map(({ id }) => LotId.toUuid(id))}::uuid[],
        ${changedLots.map(({ remaining }) => BigInt(remaining))}::int8[],
        ${changedLots.map(({ closed }) => closed)}::boolean[]
      ) AS new (id, remaining, closed)
      WHERE ledger_lot.id = new.id
    ), counted AS (
      INSERT INTO ledger_quota (account, day, kind, used)
      SELECT account, day, kind, used
      FROM unnest(
        ${quotas.map(({ account }) => account)}::text[],
        ${quotas.map(({ day }) => day)}::date[],
        ${quotas.map(({ kind }) => kind)}::text[],
        ${quotas.map(({ used }) => BigInt(used))}::int8[]
      ) AS new (account, day, kind, used)
      ON CONFLICT (account, day, kind) DO UPDATE SET used = excluded.used
    )
    INSERT INTO ledger_entry (transaction_id, line, from_book, to_book, amount)
    SELECT transaction_id, line, from_book, to_book, amount
    FROM unnest(
      ${entries.map(({ id }) => TransactionId.toUuid(id))}::uuid[],
      ${entries.map(({ line }) => line)}::int4[],
      ${entries.map(({ from }) => fromBook(from))}::text[],
      ${entries.map(({ to }) => fromBook(to))}::text[],
      ${entries.map(({ amount }) => BigInt(amount))}::int8[]
    ) AS new (transaction_id, line, from_book, to_book, amount)
  `
}
