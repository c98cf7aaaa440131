/** Enqueues and ends single jobs in one statement, without a unit of work. */
import * as StorageError from "@kinora/persistence/StorageError"
import { Effect } from "effect"

/**
 * Runs a statement that takes the place of a unit of work. Returns `undefined` after a conflict, which a database reports whose
 * transactions are serializable by default. Units run again then, and statements do not. Fails after 10 seconds, so that the
 * calls behind a locked lane, or a connection that does not respond, do not wait without end.
 */
export const withoutUnit = <A, R>(
  operation: string,
  effect: Effect.Effect<A, StorageError.StorageError, R>
): Effect.Effect<A | undefined, StorageError.StorageError, R> =>
  effect.pipe(
    StorageError.withinDeadline(operation),
    Effect.catchIf(({ reason }) => reason === "conflict", () => Effect.undefined)
  )
