/** Deletes expired leases. */
import { DatabaseTime } from "@kinora/persistence"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** Deletes up to `limit` leases that have expired. Skips leases that another process deletes. */
export const sweepLeases = (sql: SqlClient.SqlClient, limit: number) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    sql`
    DELETE FROM rate_limit_place
    WHERE id IN (
      SELECT id
      FROM rate_limit_place
      WHERE expires_at <= ${now}
      ORDER BY expires_at
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    )
    RETURNING 1
  `).pipe(Effect.map((rows) => rows.length))
