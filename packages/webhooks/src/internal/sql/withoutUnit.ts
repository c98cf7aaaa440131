/** Statements that take the place of a unit of work. */
import { StorageError } from "@kinora/persistence/StorageError"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Clock, Duration, Effect } from "effect"

/**
 * Runs an effect with a single write, without the round trips of a unit. In an open unit it runs there. After a conflict,
 * which a database reports whose transactions are serializable by default, it runs in a unit, which repeats it. Fails after
 * 10 seconds, so that a connection that does not respond stops no loop.
 */
export const withoutUnit = <A>(
  { atomically, isOpen }: UnitOfWork["Service"],
  operation: string,
  effect: Effect.Effect<A, StorageError>
): Effect.Effect<A, StorageError> =>
  Effect.flatMap(isOpen, (open) =>
    open ? atomically(effect) : Effect.raceFirst(effect, late(operation)).pipe(
      Effect.catchIf(({ reason }) => reason === "conflict", () => atomically(effect))
    ))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Time after which a statement fails. That of units of work by default. */
const deadline = Duration.seconds(10)

/** Fails at the deadline, in real time, since the database has no test clock. */
const late = (operation: string) =>
  Effect.sleep(deadline).pipe(
    Effect.provideService(Clock.Clock, Clock.Clock.defaultValue()),
    Effect.andThen(Effect.suspend(() => {
      const cause = new Error(`The statement did not end within ${Duration.format(deadline)}`)
      return Effect.fail(new StorageError({ operation, reason: "unavailable", cause }))
    }))
  )
