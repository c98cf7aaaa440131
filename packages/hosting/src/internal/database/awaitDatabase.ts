/** A start that waits for its database, which may start later or stop responding for a moment. */
import * as StorageError from "@kinora/persistence/StorageError"
import { Cause, Clock, Duration, Effect } from "effect"
import { DatabaseLost, DatabaseUnavailable } from "../../Database.ts"

/**
 * Repeats a start that fails because the database is unavailable, with the last attempt
 * after `wait`. Other failures, such as a wrong password, are returned at once. A start
 * releases what it acquired when it fails.
 */
export const awaitDatabase = (wait: Duration.Duration) => <A, E, R>(start: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const end = (yield* Clock.currentTimeMillis) + Duration.toMillis(wait)
    const attempt: Effect.Effect<A, E, R> = Effect.catchCause(start, (cause) =>
      Effect.gen(function*() {
        const left = end - (yield* Clock.currentTimeMillis)
        const reason = cause.reasons.map(unavailable).find((message) => message !== undefined)
        if (reason === undefined || left <= 0) return yield* Effect.failCause(cause)
        const seconds = Math.ceil(left / 1000)
        yield* Effect.logWarning(`${reason}. The start is repeated for ${seconds} s`)
        yield* Effect.sleep(Math.min(left, pauseMillis))
        return yield* attempt
      }))
    return yield* attempt
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Pause between two attempts. */
const pauseMillis = 1_000

/** Returns the message if a later attempt may succeed. The driver reports some failures as defects. */
const unavailable = (reason: Cause.Reason<unknown>): string | undefined => {
  const error = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
  const cause = error instanceof DatabaseUnavailable || error instanceof DatabaseLost ? error.cause : error
  const failure = StorageError.findInCause("start", Cause.fail(cause))
  return failure?.reason === "unavailable" && error instanceof Error ? error.message || failure.message : undefined
}
