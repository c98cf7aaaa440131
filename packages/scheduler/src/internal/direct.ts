/** Enqueues and ends single jobs in one statement, without a unit of work. */
import { StorageError } from "@kinora/persistence/StorageError"
import { Clock, Duration, Effect } from "effect"

/**
 * Runs a statement that takes the place of a unit of work. Returns `undefined` after a conflict, which a database reports whose
 * transactions are serializable by default. Units run again then, and statements do not. Fails after 10 seconds, so that the
 * calls behind a locked lane, or a connection that does not respond, do not wait without end.
 */
export const withoutUnit = <A, R>(
  operation: string,
  effect: Effect.Effect<A, StorageError, R>
): Effect.Effect<A | undefined, StorageError, R> =>
  effect.pipe(
    Effect.raceFirst(late(operation)),
    Effect.catchIf(({ reason }) => reason === "conflict", () => Effect.undefined)
  )

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
