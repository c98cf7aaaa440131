/** The outcome of a `COMMIT`. */
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
