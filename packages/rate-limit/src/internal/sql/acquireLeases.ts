/** Stores leases by the rule of `Lease.acquire`. */
import { Decision, Rows } from "@kinora/persistence"
import { Effect, HashMap, Result } from "effect"
import type { SqlClient } from "effect/sql"
import * as Lease from "../lease.ts"
import { countLeases } from "./countLeases.ts"
import { putLeases } from "./putLeases.ts"

/** Locks the keys, counts their live leases, and stores the leases that fit. Run it in a transaction. */
export const acquireLeases = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, requests: ReadonlyArray<Lease.Acquire>) {
    const keys = [...new Set(requests.map(({ key }) => key))]
    yield* lockKeys(sql, keys)
    const counts = yield* countLeases(sql, keys)
    const live = HashMap.fromIterable(counts.map(({ key, live }) => [key, live] as const))
    const { results } = Decision.all(live, requests, Lease.acquire)
    const granted = results.filter(Result.isSuccess).map(({ success }) => success)
    if (granted.length > 0) yield* putLeases(sql, granted)
    return granted
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Locks keys until the transaction ends. A key without leases has no row to lock, so
 * the lock is on a hash of the key. If two keys have the same hash, they only wait for
 * each other.
 */
const lockKeys = (sql: SqlClient.SqlClient, keys: ReadonlyArray<string>) =>
  sql`
    SELECT pg_advisory_xact_lock(lock)
    FROM (
      SELECT DISTINCT hashtextextended('rate_limit_place:' || key, 0) AS lock
      FROM ${Rows.table("wanted", keys, { key: ["text", (key) => key] })}
      ORDER BY lock
    ) AS locks
  `
