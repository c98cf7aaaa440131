/** Books expired lots in the background. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Cause, DateTime, Duration, Effect, Random } from "effect"

/** The operation to repeat, and how often. */
export interface SweepOptions {
  readonly expire: (
    options: { readonly at: DateTime.Utc; readonly limit: number }
  ) => Effect.Effect<{ readonly lots: number }, StorageError>
  readonly interval?: Duration.Input | undefined
  readonly limit?: number | undefined
}

/** Forks the sweep until the scope closes. */
export const sweep = ({ expire, interval = "1 minute", limit = 500 }: SweepOptions) => {
  // Spread by a quarter, so that hosts that start together do not sweep together.
  const pause = Effect.flatMap(
    Random.nextBetween(0.75, 1.25),
    (spread) => Effect.sleep(Duration.times(Duration.fromInputUnsafe(interval), spread))
  )
  const sweepOnce = Effect.flatMap(DateTime.now, (at) => expire({ at, limit })).pipe(
    // A full set means that more lots may have expired.
    Effect.repeat({ while: ({ lots }) => lots >= limit }),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.logWarning("Booking expired lots failed. It is repeated after the interval", cause)
    ),
    Effect.ignore
  )
  return Effect.andThen(pause, sweepOnce).pipe(Effect.forever, Effect.forkScoped)
}
