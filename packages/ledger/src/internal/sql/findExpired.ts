/** Finds holds to end and lots to close. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { type DateTime, Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { LotId } from "../ids.ts"
import type { Expired } from "../stored.ts"

/**
 * Finds holds and lots whose expiry is not booked, oldest expiry first, and locks their accounts. Skips accounts that other
 * transactions have locked, since a sweep that waits for one books nothing of the others, and keeps those locked meanwhile.
 * If only such accounts are left, waits for one of them and returns what has expired of it: an account whose lock passes from
 * one transaction to the next would always be skipped. Returns nothing of an account that was forgotten meanwhile.
 */
export const findExpired = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, at: DateTime.Utc, limit: number) {
  const time = (yield* DatabaseTime.hostClock).toDatabase(at)
  const free = yield* select(sql, { time, limit, owner: sql`ledger_account`, locking: skippingLocked(sql) })
  if (free.lots.length + free.holds.length > 0) return free
  return yield* select(sql, { time, limit, owner: oldest(sql, time), locking: sql.literal("FOR UPDATE OF owner") })
})

/** Decodes holds by their references, and lots. */
export const decodeExpired = <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  Effect.map(decodeRows(statement), (rows): Expired => ({
    holds: rows.flatMap(({ account, reference }) => reference === null ? [] : [{ account, reference }]),
    lots: rows.flatMap(({ account, lot }) => lot === null ? [] : [{ account, lot: LotId.fromUuid(lot) }])
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Selection {
  readonly time: Statement.Fragment
  readonly limit: number
  /** The accounts, by `id`. */
  readonly owner: Statement.Fragment
  readonly locking: Statement.Fragment
}

const select = (sql: SqlClient.SqlClient, { limit, locking, owner, time }: Selection) =>
  sql`
    WITH hold AS MATERIALIZED (
      SELECT found.account, found.reference
      FROM ledger_hold AS found
      JOIN ${owner} AS owner ON owner.id = found.account
      WHERE found.state = 'open' AND found.expires_at <= ${time}
      ORDER BY found.expires_at, found.account, found.reference
      LIMIT ${limit}
      ${locking}
    ), lot AS (
      SELECT found.id, found.account
      FROM ledger_lot AS found
      JOIN ${owner} AS owner ON owner.id = found.account
      WHERE NOT found.closed AND found.expires_at <= ${time}
      ORDER BY found.expires_at, found.id
      LIMIT ${limit} - (SELECT count(*) FROM hold)
      ${locking}
    )
    SELECT account, reference, NULL::uuid AS lot FROM hold
    UNION ALL
    SELECT account, NULL, id FROM lot
  `.pipe(decodeExpired)

const skippingLocked = (sql: SqlClient.SqlClient) => sql.literal("FOR UPDATE OF owner SKIP LOCKED")

/** The account with the oldest expiry that is not booked. */
const oldest = (sql: SqlClient.SqlClient, time: Statement.Fragment) =>
  sql`(SELECT id FROM ledger_account WHERE id = (
    SELECT account
    FROM (
      (SELECT account, expires_at FROM ledger_hold WHERE state = 'open' AND expires_at <= ${time} ORDER BY expires_at LIMIT 1)
      UNION ALL
      (SELECT account, expires_at FROM ledger_lot WHERE NOT closed AND expires_at <= ${time} ORDER BY expires_at LIMIT 1)
    ) AS due
    ORDER BY expires_at, account
    LIMIT 1
  ))`

/** A hold by its reference, or a lot. */
const ExpiredRow = Schema.Struct({
  account: Schema.String,
  reference: Schema.NullOr(Schema.String),
  lot: Schema.NullOr(Schema.String)
})

const decodeRows = Rows.decodeAll(ExpiredRow)
