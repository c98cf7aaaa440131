/** Deletes windows whose amounts no longer count. */
import { Deletion } from "@kinora/persistence"
import type { SqlClient } from "effect/sql"

/** Deletes up to `limit` windows that have expired. Skips windows that another process changes. */
export const sweepWindows = (sql: SqlClient.SqlClient, limit: number) =>
  Deletion.expired(sql, { table: "rate_limit_window", key: "key", limit })
