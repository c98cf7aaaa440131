/** Reads token buckets. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import * as Buckets from "../buckets.ts"
import type * as Counter from "../counter.ts"
import { millisAt } from "./clock.ts"
import { wantedRows } from "./rows.ts"

/** Returns the buckets of keys as they are stored, one per key, with the current time. */
export const readBuckets = (sql: SqlClient.SqlClient, counters: ReadonlyArray<Counter.Counted>) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    decodeRows(sql`
      SELECT wanted.key, bucket.missing, bucket.filled_at, (SELECT ${millisAt(now)}) AS at
      FROM ${wantedRows(counters)}
      LEFT JOIN LATERAL (
        SELECT missing::float8 AS missing, filled_at::float8 AS filled_at
        FROM rate_limit_bucket AS stored
        WHERE stored.key = wanted.key
      ) AS bucket ON true
    `)).pipe(Effect.map((rows) =>
      rows.map(({ at, filled_at, key, missing }) =>
        Buckets.storedOf(
          key,
          missing === null || filled_at === null ? Buckets.full(at) : { missing, filledAt: filled_at },
          at
        )
      )
    ))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const BucketRow = Schema.Struct({
  key: Schema.String,
  missing: Schema.NullOr(Schema.Int),
  filled_at: Schema.NullOr(Schema.Int),
  at: Schema.Finite
})

const decodeRows = Rows.decodeAll(BucketRow)
