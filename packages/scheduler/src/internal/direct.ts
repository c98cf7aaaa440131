/** Enqueues and ends single jobs in one statement, without a unit of work. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Effect } from "effect"

/**
 * Returns `undefined` after a conflict, which a database reports whose transactions are serializable by default. Units run again
 * then, and statements do not.
 */
export const unlessConflict = <A, R>(
  effect: Effect.Effect<A, StorageError, R>
): Effect.Effect<A | undefined, StorageError, R> =>
  Effect.catchIf(effect, ({ reason }) => reason === "conflict", () => Effect.undefined)
