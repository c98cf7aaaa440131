/** Finds holds to end and lots to close. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { type DateTime, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { LotId } from "../ids.ts"
import type { Expired } from "../stored.ts"

/** Finds holds and lots whose expiry is not booked, oldest expiry first. */
export const findExpired = (sql: SqlClient.SqlClient, at: DateTime.Utc, limit: number) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    WITH hold AS MATERIALIZED (
      SELECT account, reference
      FROM ledger_hold
      WHERE state = 'open' AND expires_at <= ${clock.toDatabase(at)}
      ORDER BY expires_at, account, reference
      LIMIT ${limit}
    ), lot AS (
      SELECT id, account
      FROM ledger_lot
      WHERE NOT closed AND expires_at <= ${clock.toDatabase(at)}
      ORDER BY expires_at, id
      LIMIT ${limit} - (SELECT count(*) FROM hold)
    )
    SELECT account, reference, NULL::uuid AS lot FROM hold
    UNION ALL
    SELECT account, NULL, id FROM lot
  `).pipe(decodeRows, Effect.map(toExpired))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A hold by its reference, or a lot. */
const ExpiredRow = Schema.Struct({
  account: Schema.String,
  reference: Schema.NullOr(Schema.String),
  lot: Schema.NullOr(Schema.String)
})

const decodeRows = Rows.decodeAll(ExpiredRow)

const toExpired = (rows: ReadonlyArray<typeof ExpiredRow.Type>): Expired => ({
  holds: rows.flatMap(({ account, reference }) => reference === null ? [] : [{ account, reference }]),
  lots: rows.flatMap(({ account, lot }) => lot === null ? [] : [{ account, lot: LotId.fromUuid(lot) }])
})
