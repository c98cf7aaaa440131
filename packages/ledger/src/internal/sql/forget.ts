/** Replaces the name of an account and its references by opaque ones. */
import { Rows } from "@kinora/persistence"
import { StorageError } from "@kinora/persistence/StorageError"
import { Effect, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { Expired, ForgetQuery, ForgottenRows } from "../stored.ts"
import { decodeExpired } from "./findExpired.ts"

/**
 * Locks an account and finds what is open. Writes the row of the account, so that a transaction with an earlier snapshot,
 * which does not see what is moved, fails when it locks the account.
 */
export const lockAndFindOpen = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, account: string, limit: number) {
  const locked = yield* sql`UPDATE ledger_account SET id = id WHERE id = ${account} RETURNING 1`
  if (locked.length === 0) return undefined
  const open: Expired = yield* decodeExpired(sql`
    WITH hold AS MATERIALIZED (
      SELECT account, reference
      FROM ledger_hold
      WHERE account = ${account} AND state = 'open'
      LIMIT ${limit}
    ), lot AS (
      SELECT id, account
      FROM ledger_lot
      WHERE account = ${account} AND NOT closed
      ORDER BY expires_at, id
      LIMIT ${limit} - (SELECT count(*) FROM hold)
    )
    SELECT account, reference, NULL::uuid AS lot FROM hold
    UNION ALL
    SELECT account, NULL, id FROM lot
  `)
  return open
})

/** Moves rows of a locked account: transactions with their holds, then lots and counters. Deletes the account last. */
export const forget = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, query: ForgetQuery) {
  const [begun] = yield* begin(sql, query)
  const moved = begun === undefined ? [] : yield* moveTransactions(sql, { ...query, name: begun.name })
  const held = moved.filter(({ kind }) => kind === "hold" || kind === "release")
  if (held.length > 0) yield* renameHolds(sql, held.map(({ id }) => id))
  const isFull = moved.length >= query.limit
  const found: ForgottenRows = {
    transactions: moved.length,
    after: isFull ? moved[0]!.last : "", // a limit is at least 1
    isForgotten: false
  }
  // The last batch begins at the start, since commands may have booked earlier references in between.
  if (isFull || query.after !== "") return found
  if (begun !== undefined) {
    const [rest] = yield* moveRest(sql, { ...query, name: begun.name })
    if (rest!.lots === query.limit || rest!.counters === query.limit) return found
  }
  yield* sql`DELETE FROM ledger_forgetting WHERE account = ${query.account}`
  yield* sql`DELETE FROM ledger_account WHERE id = ${query.account}`.pipe(Effect.mapError(toConflict))
  return { ...found, isForgotten: true }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Converts the violation of a foreign key. It means that the account has rows which the snapshot of the caller's transaction
 * does not include, so the transaction can be repeated.
 */
const toConflict = (error: SqlError.SqlError) =>
  error.reason._tag === "ConstraintError"
    ? new StorageError({ operation: "LedgerStore.forget", reason: "conflict", cause: error })
    : error

/** Returns the new name of the account. Creates it, unless it exists or the account has no transactions. */
const begin = (sql: SqlClient.SqlClient, { account, name }: ForgetQuery) =>
  decodeNames(sql`
    WITH begun AS (
      SELECT name FROM ledger_forgetting WHERE account = ${account}
    ), created AS (
      INSERT INTO ledger_account (id)
      SELECT ${name}
      WHERE CASE WHEN EXISTS (SELECT FROM begun) THEN false ELSE
        EXISTS (SELECT FROM ledger_transaction WHERE account = ${account}) END
      RETURNING id
    ), recorded AS (
      INSERT INTO ledger_forgetting (account, name) SELECT ${account}, id FROM created RETURNING name
    )
    SELECT name FROM begun
    UNION ALL
    SELECT name FROM recorded
  `)

const decodeNames = Rows.decodeAll(Schema.Struct({ name: Schema.String }))

/**
 * Moves transactions in the order of their references, all with the same reference at once, and the rows of holds. A charge
 * gets its own id as its reference, and its refunds and its hold the same one, a hold without a charge its own. The reference
 * of an expiry is the id of a lot, and stays.
 */
const moveTransactions = (sql: SqlClient.SqlClient, { account, after, limit, name }: ForgetQuery) =>
  decodeMoved(sql`
    WITH last AS MATERIALIZED (
      SELECT max(reference) AS reference
      FROM (
        SELECT reference
        FROM ledger_transaction
        WHERE account = ${account} AND reference > ${after}
        ORDER BY reference, kind
        LIMIT ${limit}
      ) AS found
    ), batch AS MATERIALIZED (
      SELECT id, kind, reference, CASE kind
        WHEN 'refund' THEN reverses::text || CASE WHEN strpos(reference, chr(10)) > 0 THEN chr(10) || id::text ELSE '' END
        WHEN 'expire' THEN reference
        WHEN 'grant' THEN id::text
        ELSE coalesce(
          max(id::text) FILTER (WHERE kind = 'charge') OVER same,
          max(id::text) FILTER (WHERE kind = 'hold') OVER same
        )
      END AS opaque
      FROM (
        SELECT id, kind, reference, reverses
        FROM ledger_transaction
        WHERE account = ${account} AND reference > ${after} AND reference <= (SELECT reference FROM last)
        -- For the index on references. The last reference may have more transactions, one per kind.
        ORDER BY reference, kind
        LIMIT ${limit + kindsMax}
      ) AS found
      WINDOW same AS (PARTITION BY reference)
    ), held AS (
      UPDATE ledger_hold SET account = ${name}, reference = batch.opaque
      FROM batch
      WHERE batch.kind = 'hold' AND ledger_hold.account = ${account} AND ledger_hold.reference = batch.reference
    )
    UPDATE ledger_transaction SET account = ${name}, reference = batch.opaque, metadata = NULL
    FROM batch
    WHERE ledger_transaction.id = batch.id
    RETURNING batch.id, batch.kind, (SELECT reference FROM last) AS last
  `)

/** The maximum number of transactions with the same stored reference. */
const kindsMax = 6

const decodeMoved = Rows.decodeAll(Schema.Struct({ id: Schema.String, kind: Schema.String, last: Schema.String }))

/** Renames the books of holds in a statement of its own, since the trigger has to see the new references. */
const renameHolds = (sql: SqlClient.SqlClient, transactions: ReadonlyArray<string>) =>
  sql`
    UPDATE ledger_entry SET
      from_book = CASE WHEN from_book LIKE 'held:%' THEN 'held:' || booked.reference ELSE from_book END,
      to_book = CASE WHEN to_book LIKE 'held:%' THEN 'held:' || booked.reference ELSE to_book END
    FROM ledger_transaction AS booked
    WHERE booked.id = ANY(${Rows.array("uuid", transactions, { unknownLength: true })})
      AND ledger_entry.transaction_id = booked.id
  `

/**
 * Moves lots and counters, of which refunds of the account require those that their charge has touched, so that none can be
 * left in the account. A later charge starts a counter of its own, which is added.
 */
const moveRest = (sql: SqlClient.SqlClient, { account, limit, name }: ForgetQuery) =>
  decodeRest(sql`
    WITH lot AS (
      UPDATE ledger_lot SET account = ${name}
      WHERE id = ANY(ARRAY(SELECT id FROM ledger_lot WHERE account = ${account} LIMIT ${limit}))
      RETURNING 1
    ), removed AS (
      DELETE FROM ledger_quota
      WHERE (account, day, kind) IN (
        SELECT account, day, kind FROM ledger_quota WHERE account = ${account} ORDER BY day, kind LIMIT ${limit}
      )
      RETURNING day, kind, used
    ), counted AS (
      INSERT INTO ledger_quota (account, day, kind, used)
      SELECT ${name}, day, kind, used FROM removed
      ON CONFLICT (account, day, kind) DO UPDATE SET used = ledger_quota.used + excluded.used
    )
    SELECT (SELECT count(*) FROM lot)::int4 AS lots, (SELECT count(*) FROM removed)::int4 AS counters
  `)

const decodeRest = Rows.decodeAll(Schema.Struct({ lots: Schema.Int, counters: Schema.Int }))
