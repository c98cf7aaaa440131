/** Counts live leases. */
import { Rows } from "@kinora/persistence"
import { DateTime, Schema } from "effect"
import type { SqlClient } from "effect/sql"

/** Returns the number of live leases per key. Keys without live leases are missing. */
export const countLeases = (sql: SqlClient.SqlClient, keys: ReadonlyArray<string>, at: DateTime.Utc) =>
  sql`
    SELECT key, count(*)::int4 AS live
    FROM rate_limit_place
    WHERE key = ANY(${Rows.array("text", keys)}) AND expires_at > ${DateTime.toDate(at)}
    GROUP BY key
  `.pipe(decodeRows)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const CountRow = Schema.Struct({ key: Schema.String, live: Schema.Int })

const decodeRows = Rows.decodeAll(CountRow)
