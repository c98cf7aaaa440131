/** Connections of other drivers as connections of Effect. */
import { Effect, Stream } from "effect"
import type { SqlError } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import { parameterOf } from "./parameters.ts"
import { fromDriver, isResponse } from "./sqlError.ts"
import { type Query, type Transaction, unit } from "./transaction.ts"

/** A connection, and whether it can be used again. */
export interface ExternalConnection extends Connection {
  /** Whether the connection was lost, or a statement still runs whose caller was interrupted. */
  readonly isUsable: () => boolean
}

/** Makes a connection of a pool, which runs its statements by `query`. */
export const make = (query: Query): ExternalConnection => makeWith(query, { isShared: false })

/**
 * Makes a connection to the transaction of a caller. What begins and ends a transaction of Effect begins and ends a
 * savepoint there.
 */
export const joining = ({ query }: Transaction): ExternalConnection =>
  makeWith(async (text, values) => {
    switch (text) {
      case "BEGIN":
        return query(unit.begin, values)
      case "COMMIT":
        return query(unit.release, values)
      case "ROLLBACK":
        await query(unit.rollback, values)
        return query(unit.release, values)
      default:
        return query(text, values)
    }
  }, { isShared: true })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const makeWith = (query: Query, { isShared }: { readonly isShared: boolean }): ExternalConnection => {
  let isUsable = true
  const run = (text: string, values: ReadonlyArray<unknown>) =>
    Effect.callback<Awaited<ReturnType<Query>>, SqlError.SqlError>((resume) => {
      query(text, values.map(parameterOf)).then(
        (response) => resume(Effect.succeed(response)),
        (thrown: unknown) => {
          const error = fromDriver(thrown)
          if (!isResponse(error)) isUsable = false
          resume(Effect.fail(error))
        }
      )
      return Effect.sync(() => {
        // The connection of a caller is not ours to close. Its driver runs the rollback after the statement.
        if (!isShared) isUsable = false
      })
    })
  const rowsOf: Connection["execute"] = (text, values, transform) =>
    Effect.map(run(text, values), ({ rows }) => transform === undefined ? rows : transform(rows))
  const valuesOf: Connection["executeValues"] = (text, values) =>
    Effect.map(run(text, values), ({ rows }) => rows.map((row) => Object.values(row)))
  return {
    isUsable: () => isUsable,
    execute: rowsOf,
    executeUnprepared: rowsOf,
    executeRaw: run,
    executeStream: (text, values, transform) => Stream.fromIterableEffect(rowsOf(text, values, transform)),
    executeValues: valuesOf,
    executeValuesUnprepared: valuesOf
  }
}
