/** Deletes expired leases. */
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** Deletes up to `limit` leases that have expired. Skips leases that another process deletes. */
export const sweepLeases = (sql: SqlClient.SqlClient, at: DateTime.Utc, limit: number) =>
  sql`
    DELETE FROM rate_limit_place
    WHERE id IN (
      SELECT id
      FROM rate_limit_place
      WHERE expires_at <= ${DateTime.toDate(at)}
      ORDER BY expires_at
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    )
    RETURNING 1
  `.pipe(Effect.map((rows) => rows.length))
