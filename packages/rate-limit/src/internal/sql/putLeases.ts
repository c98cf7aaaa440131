/** Stores leases. */
import { Rows } from "@kinora/persistence"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Lease } from "../lease.ts"

/** Inserts leases, or extends those that exist. */
export const putLeases = (sql: SqlClient.SqlClient, leases: ReadonlyArray<Lease>) => {
  const rows = Rows.unnest(leases, {
    ...Rows.fields({ id: "uuid", key: "text" }),
    expires_at: ["timestamptz", ({ expiresAt }) => expiresAt]
  })
  return sql`
    INSERT INTO rate_limit_place ${rows}
    ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at
  `.pipe(Effect.asVoid)
}
