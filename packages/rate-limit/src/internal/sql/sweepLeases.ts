/** Deletes expired leases. */
import { DatabaseTime, Deletion } from "@kinora/persistence"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** Deletes up to `limit` leases that have expired. Skips leases that another process deletes. */
export const sweepLeases = (sql: SqlClient.SqlClient, limit: number) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    Deletion.run(sql, {
      table: "rate_limit_place",
      key: "id",
      where: sql`expires_at <= ${now}`,
      orderBy: "expires_at",
      limit
    }))
