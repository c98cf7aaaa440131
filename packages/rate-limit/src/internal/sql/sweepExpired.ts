/** Deletes windows and buckets whose amounts no longer count. */
import { Deletion } from "@kinora/persistence"
import type { SqlClient } from "effect/sql"

/** Deletes up to `limit` rows that have expired. Skips rows that another process changes. */
export const sweepExpired = (sql: SqlClient.SqlClient, kind: "window" | "bucket", limit: number) =>
  Deletion.expired(sql, { table: `rate_limit_${kind}`, key: "key", limit })
