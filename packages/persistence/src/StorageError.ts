/**
 * How every store reports that its backend failed. Domain rules never appear
 * here: a refusal is a value or a package's own error.
 */
import { Cause, Effect, Schema } from "effect"
import { SqlError } from "effect/sql"

/**
 * What a failure of the backend promises:
 *
 * - `conflict`: the database undid the work because of a concurrent unit
 *   (SQLSTATE 40001, 40P01). Nothing was applied; running it again is safe.
 * - `unavailable`: the backend did not answer, or is full. Whether the work was
 *   applied is unknown; repeat it only under an idempotency key.
 * - `failed`: the statement is wrong or broke a constraint. Repeating it fails again.
 */
export const StorageFailure = Schema.Literals(["conflict", "unavailable", "failed"])
/** See the schema of the same name. */
export type StorageFailure = typeof StorageFailure.Type

/** The storage backend failed during `operation` (`Module.method`). */
export class StorageError extends Schema.TaggedError<StorageError>("@kinora/persistence/StorageError")("StorageError", {
  operation: Schema.String,
  reason: StorageFailure,
  cause: Schema.Defect()
}) {
  /** Whether a later attempt may succeed. */
  get isRetryable(): boolean {
    return this.reason !== "failed"
  }

  override get message(): string {
    return `Storage failed during ${this.operation} (${this.reason})`
  }
}

/** Translates a driver's error. */
export const fromSql = (operation: string, cause: SqlError.SqlError): StorageError =>
  new StorageError({ operation, reason: failureOf(cause), cause })

/**
 * Turns the failures of a SQL store into what its callers may see: `SqlError`
 * becomes `StorageError`; a row that does not decode is corruption and dies.
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
 * The backend's failure in a cause, if there is one. Looks into defects too: a
 * connection lost inside a transaction surfaces as one in today's driver.
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

const failureOf = ({ reason }: SqlError.SqlError): StorageFailure => {
  switch (reason._tag) {
    case "SerializationError":
    case "DeadlockError":
      return "conflict"
    case "ConnectionError":
    case "LockTimeoutError":
    case "StatementTimeoutError":
      return "unavailable"
    default:
      return isShutdown(reason.cause) ? "unavailable" : "failed"
  }
}

/** SQLSTATE 57P01 to 57P05 (server shuts down, backend terminated) and 53300 (too many connections). */
const isShutdown = (cause: unknown): boolean => {
  if (typeof cause !== "object" || cause === null || !("code" in cause)) return false
  const { code } = cause
  return typeof code === "string" && (code.startsWith("57P") || code === "53300")
}
