/** Deletion of old rows in SQL, in sets of a limited size. `Sweep` runs it at an interval. */
import { Effect } from "effect"
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
