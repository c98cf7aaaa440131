/** Deletes expired leases. */
import { Deletion } from "@kinora/persistence"
import type { SqlClient } from "effect/sql"

/** Deletes up to `limit` leases that have expired. Skips leases that another process deletes. */
export const sweepLeases = (sql: SqlClient.SqlClient, limit: number) =>
  Deletion.expired(sql, { table: "rate_limit_place", key: "id", limit })
