/** Compares books with stored figures. `../memory/audit.ts` does the same in memory, and a test compares the two. */
import { Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { TransactionId } from "../ids.ts"
import type { Audited, AuditQuery } from "../stored.ts"
import { toBook } from "./bookText.ts"

/**
 * Compares in one statement, which sees all accounts as of one moment. What was moved of an account that is being forgotten
 * counts to the account.
 */
export const audit = (sql: SqlClient.SqlClient, { accounts, discrepanciesMax }: AuditQuery) =>
  sql`
    WITH forgetting AS MATERIALIZED (
      SELECT account AS owner, name AS account
      FROM ledger_forgetting
      WHERE account = ANY(${Rows.array("text", accounts)})
    ), booked AS (
      SELECT id, coalesce(owner, account) AS account, amount
      FROM ledger_transaction
      LEFT JOIN forgetting USING (account)
      WHERE account = ANY(${withNames(sql, accounts)})
    ), entry AS (
      SELECT booked.account, transaction_id, from_book, to_book, ledger_entry.amount
      FROM booked
      JOIN ledger_entry ON ledger_entry.transaction_id = booked.id
    ), balance AS (
      SELECT account, book, sum(amount) AS booked
      FROM (
        SELECT account, to_book AS book, amount FROM entry
        UNION ALL
        SELECT account, from_book, -amount FROM entry
      ) AS side
      GROUP BY account, book
    ), ${storedFigures(sql, accounts)}, figure AS (
      SELECT booked.account, 'amount' AS figure, booked.id::text AS subject,
        coalesce(sum(entry.amount), 0) AS booked, booked.amount AS kept
      FROM booked
      LEFT JOIN entry ON entry.transaction_id = booked.id
      GROUP BY booked.account, booked.id, booked.amount
      UNION ALL
      SELECT lot.account, 'granted', lot.book, entry.amount, lot.granted
      FROM lot
      LEFT JOIN entry ON entry.transaction_id = lot.opened_by AND entry.to_book = lot.book
      UNION ALL
      SELECT account, 'remaining', book, booked, remaining
      FROM (SELECT account, book, booked FROM balance WHERE book LIKE 'lot:%') AS balance
      FULL JOIN lot USING (account, book)
      UNION ALL
      SELECT account, 'used', book, booked, used
      FROM (SELECT account, book, booked FROM balance WHERE book LIKE 'quota:%') AS balance
      FULL JOIN quota USING (account, book)
      UNION ALL
      -- The books do not mention a hold of 0 credits.
      SELECT account, 'held', book, coalesce(booked, 0), credits
      FROM (SELECT account, book, booked FROM balance WHERE book LIKE 'held:%') AS balance
      FULL JOIN hold USING (account, book)
    ), discrepancy AS (
      SELECT account, figure, subject, booked, kept
      FROM figure
      WHERE booked IS DISTINCT FROM kept
      ORDER BY account, figure, subject COLLATE "C"
      LIMIT ${discrepanciesMax}
    )
    SELECT
      (SELECT coalesce(-sum(booked), 0)::float8 FROM balance WHERE book LIKE 'source:%') AS granted,
      (SELECT coalesce(sum(remaining), 0)::float8 FROM lot) AS remaining,
      (SELECT coalesce(sum(credits), 0)::float8 FROM hold) AS held,
      (SELECT coalesce(sum(booked), 0)::float8 FROM balance WHERE book = 'consumed') AS consumed,
      (SELECT coalesce(sum(booked), 0)::float8 FROM balance WHERE book = 'expired') AS expired,
      (SELECT coalesce(jsonb_agg(discrepancy), '[]') FROM discrepancy) AS discrepancies
  `.pipe(decodeRows, Effect.map(([row]) => toAudited(row!))) // without a FROM, it returns one row

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The accounts, and the new names of those that are being forgotten. */
const withNames = (sql: SqlClient.SqlClient, accounts: ReadonlyArray<string>) =>
  sql`${Rows.array("text", accounts)} || ARRAY(SELECT account FROM forgetting)`

/** The stored figures of lots, counters and holds. */
const storedFigures = (sql: SqlClient.SqlClient, accounts: ReadonlyArray<string>) =>
  sql`
    lot AS (
      SELECT coalesce(owner, account) AS account, 'lot:' || id AS book, granted, remaining, opened_by
      FROM ledger_lot
      LEFT JOIN forgetting USING (account)
      WHERE account = ANY(${withNames(sql, accounts)})
    ), quota AS (
      -- Both names can have a counter of the same day.
      SELECT coalesce(owner, account) AS account, 'quota:' || kind || ':' || to_char(day, 'YYYY-MM-DD') AS book,
        sum(used) AS used
      FROM ledger_quota
      LEFT JOIN forgetting USING (account)
      WHERE account = ANY(${withNames(sql, accounts)})
      GROUP BY coalesce(owner, account), kind, day
    ), hold AS (
      SELECT coalesce(owner, account) AS account, 'held:' || reference AS book,
        CASE state WHEN 'open' THEN credits ELSE 0 END AS credits
      FROM ledger_hold
      LEFT JOIN forgetting USING (account)
      WHERE account = ANY(${withNames(sql, accounts)})
    )
  `

const AuditRow = Schema.Struct({
  granted: Schema.Number,
  remaining: Schema.Number,
  held: Schema.Number,
  consumed: Schema.Number,
  expired: Schema.Number,
  discrepancies: Schema.Array(Schema.Struct({
    account: Schema.String,
    figure: Schema.Literals(["remaining", "granted", "used", "held", "amount"]),
    subject: Schema.String,
    booked: Schema.NullOr(Schema.Number),
    kept: Schema.NullOr(Schema.Number)
  }))
})

const decodeRows = Rows.decodeAll(AuditRow)

const toAudited = ({ discrepancies, ...totals }: typeof AuditRow.Type): Audited => ({
  totals,
  discrepancies: discrepancies.map((found) => ({
    ...found,
    subject: found.figure === "amount" ? TransactionId.fromUuid(found.subject) : toBook(found.subject)
  }))
})
