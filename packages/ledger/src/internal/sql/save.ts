/** Writes the changes of a unit of work. */
import { Pipelining, Rows } from "@kinora/persistence"
import type { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { LotId, TransactionId } from "../ids.ts"
import { type Changes, StaleBooks } from "../stored.ts"
import { fromBook } from "./bookText.ts"
import { insertedColumns } from "./lotRow.ts"
import { storedReference } from "./transactionRow.ts"

/** Writes changes. Dies with `StaleBooks` if a counter was changed meanwhile. */
export const save = (sql: SqlClient.SqlClient, changes: Changes): Effect.Effect<void, SqlError.SqlError> =>
  Pipelining.writeCurrent(sql, write(sql, changes), () => new StaleBooks())

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Writes all tables in one statement, whose text is the same for any set without holds, and for any with holds. The database
 * checks foreign keys among the new rows at the end of the statement. Fails with a division by zero unless all
 * counters still had the values that were loaded. A hold ends once, since its release is unique.
 */
const write = (sql: SqlClient.SqlClient, changes: Changes) => {
  const { changedLots, openedLots, quotas, transactions } = changes
  return sql`
    WITH booked AS (
      INSERT INTO ledger_transaction ${transactionRows(transactions)}
    ), opened AS (
      INSERT INTO ledger_lot ${lotRows(openedLots)}
    ), changed AS (
      UPDATE ledger_lot
      SET remaining = ledger_lot.remaining + new.credits, closed = ledger_lot.closed OR new.closed
      FROM ${lotChangeRows(changedLots)}
      WHERE ledger_lot.id = new.id
    ), moved AS (
      INSERT INTO ledger_entry ${entryRows(transactions)}
    ), quota AS (
      SELECT account, day, kind, used, used_before FROM ${quotaRows(quotas)}
    ), started AS (
      -- A counter of 0 may have no row.
      INSERT INTO ledger_quota (account, day, kind, used)
      SELECT account, day, kind, used FROM quota WHERE used_before = 0
      ON CONFLICT (account, day, kind) DO UPDATE SET used = excluded.used WHERE ledger_quota.used = 0
      RETURNING 1
    ), continued AS (
      UPDATE ledger_quota SET used = quota.used
      FROM quota
      WHERE ledger_quota.account = quota.account
        AND ledger_quota.day = quota.day
        AND ledger_quota.kind = quota.kind
        AND quota.used_before > 0
        AND ledger_quota.used = quota.used_before
      RETURNING 1
    )
    ${writeHolds(sql, changes)}
    SELECT 1 / (
      (SELECT count(*) FROM started) + (SELECT count(*) FROM continued) = ${quotas.length}::int8
    )::int4 AS "areCurrent"
  `
}

/** Writes holds, if there are any, since units without holds should not pay for the larger statement. */
const writeHolds = (sql: SqlClient.SqlClient, { endedHolds, openedHolds }: Changes) =>
  endedHolds.length + openedHolds.length === 0 ? sql.literal("") : sql`
    , held AS (
      INSERT INTO ledger_hold ${holdRows(openedHolds)}
    ), ended AS (
      UPDATE ledger_hold SET state = new.state
      FROM ${holdEndRows(endedHolds)}
      WHERE ledger_hold.account = new.account AND ledger_hold.reference = new.reference
    )
  `

type Transaction = Changes["transactions"][number]

const transactionColumns: Rows.Columns<Transaction> = {
  id: ["uuid", ({ id }) => TransactionId.toUuid(id)],
  ...Rows.fields({ account: "text", kind: "text", at: "timestamptz", amount: "int8" }),
  reference: ["text", storedReference],
  reverses: ["uuid?", ({ reverses }) => reverses === undefined ? null : TransactionId.toUuid(reverses)],
  metadata: ["jsonb?", ({ metadata }) => metadata]
}

const transactionRows = (transactions: Changes["transactions"]) => Rows.unnest(transactions, transactionColumns)

const entryColumns: Rows.Columns<Transaction["entries"][number] & Pick<Transaction, "id"> & { readonly line: number }> =
  {
    transaction_id: ["uuid", ({ id }) => TransactionId.toUuid(id)],
    line: ["int4", ({ line }) => line],
    from_book: ["text", ({ from }) => fromBook(from)],
    to_book: ["text", ({ to }) => fromBook(to)],
    amount: ["int8", ({ amount }) => amount]
  }

const entryRows = (transactions: Changes["transactions"]) =>
  Rows.unnest(
    transactions.flatMap(({ entries, id }) => entries.map((entry, line) => ({ ...entry, id, line }))),
    entryColumns
  )

const lotRows = (lots: Changes["openedLots"]) => Rows.unnest(lots, insertedColumns)

const lotChangeColumns: Rows.Columns<Changes["changedLots"][number]> = {
  id: ["uuid", ({ lot }) => LotId.toUuid(lot)],
  ...Rows.fields({ credits: "int8", closed: "boolean" })
}

const lotChangeRows = (changes: Changes["changedLots"]) => Rows.table("new", changes, lotChangeColumns)

const quotaColumns: Rows.Columns<Changes["quotas"][number]> = {
  ...Rows.fields({ account: "text", day: "date", kind: "text", used: "int8" }),
  used_before: ["int8", ({ before }) => before]
}

const quotaRows = (quotas: Changes["quotas"]) => Rows.table("new", quotas, quotaColumns)

const holdColumns: Rows.Columns<Changes["openedHolds"][number]> = {
  ...Rows.fields({ account: "text", reference: "text", credits: "int8", state: "text" }),
  expires_at: ["timestamptz", ({ expiresAt }) => expiresAt],
  opened_by: ["uuid", ({ openedBy }) => TransactionId.toUuid(openedBy)]
}

const holdRows = (holds: Changes["openedHolds"]) => Rows.unnest(holds, holdColumns)

const holdEndColumns = Rows.fields({ account: "text", reference: "text", state: "text" })

const holdEndRows = (holds: Changes["endedHolds"]) => Rows.table("new", holds, holdEndColumns)
