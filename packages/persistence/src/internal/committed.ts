/** Outcomes of a `COMMIT`. */
import { Effect } from "effect"
import { SqlError } from "effect/sql"

/**
 * Fails if the response to a `COMMIT` has the command `ROLLBACK`, with which Postgres responds if a statement of the transaction
 * has failed.
 */
export const committed = (command: string | undefined): Effect.Effect<void, SqlError.SqlError> => {
  if (command !== "ROLLBACK") return Effect.void
  const message = "COMMIT rolled back a failed transaction"
  return Effect.fail(
    new SqlError.SqlError({
      reason: new SqlError.UnknownError({ cause: new Error(message), message, operation: "commit" })
    })
  )
}

/** The connection was lost before `COMMIT` was sent. */
export class CommitNotSent extends Error {
  override readonly name = "CommitNotSent"
}

/** Marks an error because of which `COMMIT` was not sent, if the connection is lost, so that the unit can run again. */
export const commitNotSent = (error: SqlError.SqlError): SqlError.SqlError => {
  const { cause, message, operation, _tag } = error.reason
  if (_tag !== "ConnectionError") return error
  const notSent = new CommitNotSent("The connection was lost before COMMIT was sent", { cause })
  return new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: notSent, message, operation }) })
}
