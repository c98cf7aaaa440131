/** The errors of drivers as `SqlError`. */
import { SqlError } from "effect/sql"

/** Converts what a driver threw. An error without SQLSTATE means that the connection is lost. */
export const fromDriver = (thrown: unknown): SqlError.SqlError => {
  const cause = withSqlState(thrown)
  const message = cause instanceof Error ? cause.message : String(cause)
  return new SqlError.SqlError({ reason: reasonOf(cause, { cause, message, operation: "query" }) })
}

/** Returns whether the server responded, so that the connection can be used again. */
export const isResponse = ({ reason: { cause } }: SqlError.SqlError): boolean =>
  stateOf(cause) !== undefined && !stateOf(cause)!.startsWith("08")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Properties {
  readonly cause: unknown
  readonly message: string
  readonly operation: string
}

const reasonOf = (cause: unknown, properties: Properties): SqlError.SqlErrorReason => {
  const state = stateOf(cause)
  if (state === undefined || state.startsWith("08")) return new SqlError.ConnectionError(properties)
  switch (state) {
    case "23505":
      return new SqlError.UniqueViolation({ ...properties, constraint: constraintOf(cause) })
    case "40001":
      return new SqlError.SerializationError(properties)
    case "40P01":
      return new SqlError.DeadlockError(properties)
    case "42501":
      return new SqlError.AuthorizationError(properties)
    case "55P03":
      return new SqlError.LockTimeoutError(properties)
    case "57014":
      return new SqlError.StatementTimeoutError(properties)
  }
  if (state.startsWith("23")) return new SqlError.ConstraintError(properties)
  if (state.startsWith("28")) return new SqlError.AuthenticationError(properties)
  if (state.startsWith("42")) return new SqlError.SqlSyntaxError(properties)
  return new SqlError.UnknownError(properties)
}

/** Returns the error that has an SQLSTATE: the one that was thrown, or one that it wraps. */
const withSqlState = (thrown: unknown): unknown => {
  let error = thrown
  for (let depth = 0; depth < 5 && error instanceof Error; depth++) {
    if (stateOf(error) !== undefined) return error
    error = error.cause
  }
  return thrown
}

/** An SQLSTATE has five digits or capital letters, unlike codes of Node such as `ECONNRESET`. */
const stateOf = (error: unknown): string | undefined => {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

const constraintOf = (error: unknown): string =>
  error instanceof Error && "constraint" in error && typeof error.constraint === "string" ? error.constraint : "unknown"
