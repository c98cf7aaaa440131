/** Writes the changes of a unit of work. */
import { Rows } from "@kinora/persistence"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { LotId, TransactionId } from "../ids.ts"
import type { Changes } from "../stored.ts"
import { fromBook } from "./bookText.ts"

/**
 * Writes all tables in one statement, whose text is the same for any set. The database
 * checks foreign keys among the new rows at the end of the statement.
 */
export const save = (sql: SqlClient.SqlClient, { changedLots, openedLots, quotas, transactions }: Changes) =>
  sql`
    WITH booked AS (
      INSERT INTO ledger_transaction ${transactionRows(transactions)}
    ), opened AS (
      INSERT INTO ledger_lot ${lotRows(openedLots)}
    ), changed AS (
      UPDATE ledger_lot
      SET remaining = ledger_lot.remaining + new.credits, closed = ledger_lot.closed OR new.closed
      FROM ${lotChangeRows(changedLots)}
      WHERE ledger_lot.id = new.id
    ), counted AS (
      INSERT INTO ledger_quota ${quotaRows(quotas)}
      ON CONFLICT (account, day, kind) DO UPDATE SET used = excluded.used
    )
    INSERT INTO ledger_entry ${entryRows(transactions)}
  `.pipe(Effect.asVoid)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const transactionRows = (transactions: Changes["transactions"]) =>
  Rows.unnest(transactions, {
    id: ["uuid", ({ id }) => TransactionId.toUuid(id)],
    account: ["text", ({ account }) => account],
    kind: ["text", ({ kind }) => kind],
    reference: ["text", ({ reference }) => reference],
    at: ["timestamptz", ({ at }) => at],
    amount: ["int8", ({ amount }) => amount],
    reverses: ["uuid?", ({ reverses }) => reverses === undefined ? null : TransactionId.toUuid(reverses)]
  })

const entryRows = (transactions: Changes["transactions"]) =>
  Rows.unnest(transactions.flatMap(({ entries, id }) => entries.map((entry, line) => ({ ...entry, id, line }))), {
    transaction_id: ["uuid", ({ id }) => TransactionId.toUuid(id)],
    line: ["int4", ({ line }) => line],
    from_book: ["text", ({ from }) => fromBook(from)],
    to_book: ["text", ({ to }) => fromBook(to)],
    amount: ["int8", ({ amount }) => amount]
  })

const lotRows = (lots: Changes["openedLots"]) =>
  Rows.unnest(lots, {
    id: ["uuid", ({ id }) => LotId.toUuid(id)],
    account: ["text", ({ account }) => account],
    kind: ["text", ({ kind }) => kind],
    granted: ["int8", ({ granted }) => granted],
    remaining: ["int8", ({ remaining }) => remaining],
    opened_at: ["timestamptz", ({ openedAt }) => openedAt],
    expires_at: ["timestamptz", ({ expiresAt }) => expiresAt],
    images_only: ["boolean", ({ imagesOnly }) => imagesOnly],
    watermark: ["boolean", ({ watermark }) => watermark],
    closed: ["boolean", ({ closed }) => closed],
    opened_by: ["uuid", ({ openedBy }) => TransactionId.toUuid(openedBy)]
  })

const lotChangeRows = (changes: Changes["changedLots"]) =>
  Rows.table("new", changes, {
    id: ["uuid", ({ lot }) => LotId.toUuid(lot)],
    credits: ["int8", ({ credits }) => credits],
    closed: ["boolean", ({ closed }) => closed]
  })

const quotaRows = (quotas: Changes["quotas"]) =>
  Rows.unnest(quotas, {
    account: ["text", ({ account }) => account],
    day: ["date", ({ day }) => day],
    kind: ["text", ({ kind }) => kind],
    used: ["int8", ({ used }) => used]
  })
