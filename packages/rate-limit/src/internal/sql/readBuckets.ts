/** Reads token buckets. */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import * as Buckets from "../buckets.ts"
import type * as Counter from "../counter.ts"
import { makeStoredRows } from "./storedRows.ts"

/** Returns the buckets of keys as they are stored, one per key, with the current time. */
export const readBuckets = (sql: SqlClient.SqlClient, counters: ReadonlyArray<Counter.Counted>) =>
  Effect.map(storedRows(sql, counters), (rows) =>
    rows.map(({ at, filled_at, key, missing }) =>
      Buckets.storedOf(
        key,
        missing === null || filled_at === null ? Buckets.full(at) : { missing, filledAt: filled_at },
        at
      )
    ))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const storedRows = makeStoredRows(
  "rate_limit_bucket",
  "missing::float8 AS missing, filled_at::float8 AS filled_at",
  Schema.Struct({
    key: Schema.String,
    missing: Schema.NullOr(Schema.Int),
    filled_at: Schema.NullOr(Schema.Int),
    at: Schema.Finite
  })
)
