/** Stores leases by the rule of `Lease.acquire`. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { Duration, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type * as Lease from "../lease.ts"

/**
 * Locks the keys, counts their live leases, and stores the leases that fit, in one statement. The function is in
 * `migrations.ts`, and a test compares it with the rule.
 */
export const acquireLeases = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, requests: ReadonlyArray<Lease.Acquire>) {
    const now = yield* DatabaseTime.now
    const granted = yield* decodeRows(sql`
      SELECT id FROM rate_limit_acquire_places(
        ${Rows.array("uuid", requests.map(({ id }) => id))},
        ${Rows.array("text", requests.map(({ key }) => key))},
        ${Rows.array("float8", requests.map(({ lasts }) => Duration.toMillis(lasts)))},
        ${Rows.array("int4", requests.map(({ max }) => max))},
        ${now}
      ) AS id
    `)
    const ids = new Set(granted.map(({ id }) => id))
    return requests.filter(({ id }) => ids.has(id)).map(({ id, key, lasts }): Lease.Lease => ({ id, key, lasts }))
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeRows = Rows.decodeAll(Schema.Struct({ id: Schema.String }))
