/** Stores leases. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { Duration, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Lease } from "../lease.ts"

/** Inserts leases that end their duration from now, or extends those that exist. Locks them in the order of `forgetKey`. */
export const putLeases = (sql: SqlClient.SqlClient, leases: ReadonlyArray<Lease>) => {
  const rows = Rows.table("lease", leases, {
    ...Rows.fields({ id: "uuid", key: "text" }),
    lasts: ["float8", ({ lasts }) => Duration.toMillis(lasts)]
  })
  return Effect.flatMap(DatabaseTime.now, (now) =>
    sql`
      INSERT INTO rate_limit_place (id, key, expires_at)
      SELECT id, key, ${now} + lasts * interval '1 millisecond' FROM ${rows} ORDER BY id
      ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at
    `).pipe(Effect.asVoid)
}
