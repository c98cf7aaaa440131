/** Counts live leases. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"

/** Returns the number of live leases per key. Keys without live leases are missing. */
export const countLeases = (sql: SqlClient.SqlClient, keys: ReadonlyArray<string>) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    decodeRows(sql`
    SELECT key, count(*)::int4 AS live
    FROM rate_limit_place
    WHERE key = ANY(${Rows.array("text", keys)}) AND expires_at > ${now}
    GROUP BY key
  `))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const CountRow = Schema.Struct({ key: Schema.String, live: Schema.Int })

const decodeRows = Rows.decodeAll(CountRow)
