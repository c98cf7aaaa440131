/** Enqueues and ends single jobs in one statement, without a unit of work. */
import * as StorageError from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect } from "effect"

/**
 * Makes a function that runs a statement that takes the place of a unit of work. The function returns `undefined` after a
 * conflict, which a database reports whose transactions are serializable by default. Units run again then, and statements do
 * not. It fails after the deadline of a unit, so that the calls behind a locked lane, or a connection that does not respond, do
 * not wait without end.
 */
export const makeWithoutUnit = Effect.map(
  UnitOfWork,
  ({ deadline }) =>
  <A, R>(
    operation: string,
    effect: Effect.Effect<A, StorageError.StorageError, R>
  ): Effect.Effect<A | undefined, StorageError.StorageError, R> =>
    effect.pipe(
      StorageError.withinDeadline(operation, deadline),
      Effect.catchIf(({ reason }) => reason === "conflict", () => Effect.undefined)
    )
)
