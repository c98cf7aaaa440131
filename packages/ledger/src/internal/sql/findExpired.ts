/** Finds lots to close. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { type DateTime, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { LotId } from "../ids.ts"

/** Finds lots whose expiry is not booked, oldest expiry first. */
export const findExpired = (sql: SqlClient.SqlClient, at: DateTime.Utc, limit: number) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    SELECT id, account
    FROM ledger_lot
    WHERE NOT closed AND expires_at <= ${clock.toDatabase(at)}
    ORDER BY expires_at, id
    LIMIT ${limit}
  `).pipe(
      decodeRows,
      Effect.map((rows) => rows.map(({ account, id }) => ({ account, lot: LotId.fromUuid(id) })))
    )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const ExpiredRow = Schema.Struct({ id: Schema.String, account: Schema.String })

const decodeRows = Rows.decodeAll(ExpiredRow)
