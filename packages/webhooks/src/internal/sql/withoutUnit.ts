/** Statements that take the place of a unit of work. */
import * as StorageError from "@kinora/persistence/StorageError"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect } from "effect"

/**
 * Runs an effect with a single write, without the round trips of a unit. In an open unit it runs there. After a conflict,
 * which a database reports whose transactions are serializable by default, it runs in a unit, which repeats it. Fails after
 * the deadline of a unit, so that a connection that does not respond stops no loop.
 */
export const withoutUnit = <A>(
  { atomically, deadline, isOpen }: UnitOfWork["Service"],
  operation: string,
  effect: Effect.Effect<A, StorageError.StorageError>
): Effect.Effect<A, StorageError.StorageError> =>
  Effect.flatMap(isOpen, (open) =>
    open ? atomically(effect) : effect.pipe(
      StorageError.withinDeadline(operation, deadline),
      Effect.catchIf(({ reason }) => reason === "conflict", () => atomically(effect))
    ))
