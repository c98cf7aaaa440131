/** Deletion of old rows in SQL, in sets of a limited size. `Sweep` runs it at an interval. */
import { type DateTime, Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as DatabaseTime from "./DatabaseTime.ts"

/** The rows to delete. Names and expressions are parts of the statement: pass constants only. */
export interface DeletionOptions {
  readonly table: string
  /** The column that identifies a row: its primary key, or `ctid`, which the lock keeps valid. */
  readonly key: string
  /** The condition for the rows to delete. */
  readonly where: Statement.Fragment
  /** The expression whose lowest values are deleted first. It needs an index. */
  readonly orderBy: string
  /** The maximum number of rows. */
  readonly limit: number
}

/**
 * Returns the statement that deletes the rows. It skips locked rows, so that sweeps of several hosts do not wait for
 * each other, and returns one row for each deleted one.
 */
export const statement = (
  sql: SqlClient.SqlClient,
  { key, limit, orderBy, table, where }: DeletionOptions
): Statement.Statement<unknown> =>
  // An array, so that the subquery runs once in every plan.
  sql`
    DELETE FROM ${sql.literal(table)}
    WHERE ${sql.literal(key)} = ANY(ARRAY(
      SELECT ${sql.literal(key)}
      FROM ${sql.literal(table)}
      WHERE ${where}
      ORDER BY ${sql.literal(orderBy)}
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    ))
    RETURNING 1
  `

/** Runs `statement`, and returns the number of deleted rows. */
export const run = (sql: SqlClient.SqlClient, options: DeletionOptions): Effect.Effect<number, SqlError.SqlError> =>
  Effect.map(statement(sql, options), (rows) => rows.length)

/** Returns the statement that deletes up to `limit` rows from before a time, which `clock` converts to that of the database. */
export type DeleteBefore = (
  sql: SqlClient.SqlClient,
  clock: DatabaseTime.HostClock,
  before: DateTime.Utc,
  limit: number
) => Statement.Statement<unknown>

/** The rows to delete once they have expired. */
export interface ExpiredOptions extends Pick<DeletionOptions, "table" | "key" | "limit"> {
  /** The expression for the time at which a row expires. It needs an index. Default: the column `expires_at`. */
  readonly expiresAt?: string | undefined
}

/** Deletes rows that have expired by the time of the database, the earliest first. Returns their number. */
export const expired = (
  sql: SqlClient.SqlClient,
  { expiresAt = "expires_at", key, limit, table }: ExpiredOptions
): Effect.Effect<number, SqlError.SqlError> =>
  Effect.flatMap(
    DatabaseTime.now,
    (now) => run(sql, { table, key, where: sql`${sql.literal(expiresAt)} <= ${now}`, orderBy: expiresAt, limit })
  )

/** Options of `inSets`. */
export interface SetsOptions<E, R> {
  /** Name of the operation in the error of an invalid limit, such as `Idempotency.forget`. */
  readonly name: string
  /** The maximum number of rows of one set: a whole number from 1 to 10,000. Default 1,000. */
  readonly limit?: number | undefined
  /** Deletes up to `limit` rows and returns their number. Fewer than `limit` means that no row is left. */
  readonly run: (limit: number) => Effect.Effect<number, E, R>
}

/**
 * Deletes rows in sets until a set is smaller than the limit. Returns the number of rows. Each set is a unit of work of its
 * own, unless the caller has opened one. Dies if the limit is invalid.
 */
export const inSets = Effect.fnUntraced(function*<E, R>({ limit = 1_000, name, run }: SetsOptions<E, R>) {
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    return yield* Effect.die(
      new Error(`The limit of ${name} must be a whole number from 1 to ${limitMax}, got ${limit}`)
    )
  }
  let deleted = 0
  while (true) {
    const count = yield* run(limit)
    deleted += count
    if (count < limit) return deleted
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const limitMax = 10_000
