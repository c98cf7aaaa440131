/**
 * The failure of a storage backend, the same for every store. Refusals by domain rules
 * are errors of their package instead.
 */
import { Cause, Clock, Duration, Effect, Schema } from "effect"
import { SqlError } from "effect/sql"
import { sqlStateOf } from "./internal/sqlErrors.ts"

/**
 * Kind of a failure:
 *
 * - `conflict`: the database rolled back because of a concurrent transaction (SQLSTATE
 *   40001, 40P01), or because the transaction was idle for too long (25P03). Nothing was applied, so the work can run again.
 * - `unavailable`: the backend did not respond in time, is read-only, or has no room. The
 *   work may have been applied, so repeat it only under an idempotency key.
 * - `failed`: the statement is invalid or violates a constraint. Repeating it fails
 *   again.
 */
export const StorageFailure = Schema.Literals(["conflict", "unavailable", "failed"])
/** Kind of a failure. */
export type StorageFailure = typeof StorageFailure.Type

/** The failure of a storage backend during `operation` (`Module.method`). */
export class StorageError extends Schema.TaggedError<StorageError>("@kinora/persistence/StorageError")("StorageError", {
  operation: Schema.String,
  reason: StorageFailure,
  cause: Schema.Defect()
}) {
  /** Returns whether a later attempt may succeed. */
  get isRetryable(): boolean {
    return this.reason !== "failed"
  }

  override get message(): string {
    return `Storage failed during ${this.operation} (${this.reason})`
  }
}

/** Converts an error of the driver. */
export const fromSql = (operation: string, cause: SqlError.SqlError): StorageError =>
  new StorageError({ operation, reason: failureOf(cause), cause })

/**
 * Converts the failures of a SQL store: a `SqlError` becomes a `StorageError`; a row
 * that does not decode is corruption and becomes a defect.
 */
export const mapSql = (operation: string) =>
<A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError | Schema.SchemaError> | StorageError, R> =>
  Effect.catch(
    effect,
    (error): Effect.Effect<never, Exclude<E, SqlError.SqlError | Schema.SchemaError> | StorageError> => {
      if (SqlError.isSqlError(error)) return Effect.fail(fromSql(operation, error))
      if (Schema.isSchemaError(error)) return Effect.die(error)
      return Effect.fail(error as Exclude<E, SqlError.SqlError | Schema.SchemaError>)
    }
  )

/**
 * Fails with `unavailable` if an effect takes longer than a deadline, in real time. For statements without a unit, which would
 * wait without end for a locked row or a connection that does not respond. Pass the `deadline` of the `UnitOfWork`; the
 * default is its default, 10 seconds.
 */
export const withinDeadline =
  (operation: string, deadline: Duration.Duration = Duration.seconds(10)) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | StorageError, R> =>
    Effect.raceFirst(effect, late(operation, deadline))

/**
 * Returns the failure of the backend in a cause, or `undefined`. Searches defects too,
 * since the driver reports a connection lost inside a transaction as one.
 */
export const findInCause = (operation: string, cause: Cause.Cause<unknown>): StorageError | undefined => {
  for (const reason of cause.reasons) {
    const problem = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    if (problem instanceof StorageError) return problem
    if (SqlError.isSqlError(problem)) return fromSql(operation, problem)
  }
  return undefined
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Fails at the deadline, in real time, since the database has no test clock. */
const late = (operation: string, deadline: Duration.Duration) =>
  Effect.sleep(deadline).pipe(
    Effect.provideService(Clock.Clock, Clock.Clock.defaultValue()),
    Effect.andThen(Effect.suspend(() => {
      const cause = new Error(`The statement did not end within ${Duration.format(deadline)}`)
      return Effect.fail(new StorageError({ operation, reason: "unavailable", cause }))
    }))
  )

const failureOf = (error: SqlError.SqlError): StorageFailure => {
  switch (error.reason._tag) {
    case "SerializationError":
    case "DeadlockError":
      return "conflict"
    case "ConnectionError":
    case "LockTimeoutError":
    case "StatementTimeoutError":
      return "unavailable"
    default:
      return failureOfState(sqlStateOf(error))
  }
}

/** Classifies errors for which the driver has no class. */
const failureOfState = (sqlState: string): StorageFailure => {
  // The server ends an idle session only while no statement runs, so its transaction cannot have committed.
  if (sqlState === idleInTransaction) return "conflict"
  return serverClasses.has(sqlState.slice(0, 2)) || serverStates.has(sqlState) ? "unavailable" : "failed"
}

const idleInTransaction = "25P03"

/**
 * Connection lost (08), rolled back (40), out of memory, disk or connections (53), shut down or cancelled (57), and
 * input or output failed (58).
 */
const serverClasses = new Set(["08", "40", "53", "57", "58"])

/** The server is read-only, as after a failover, and the time limit of transactions. */
const serverStates = new Set(["25006", "25P04"])
