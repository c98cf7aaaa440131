/** Runs sweeps from time to time. Any number of hosts may: a sweep takes what it finds, once. */
import { Cause, Duration, Effect, Layer, Random } from "effect"

/** One kind of leftover, and how to deal with it. */
export interface Sweep {
  /** Shown in the log when it fails. */
  readonly name: string
  /** How often to look. Spread by a quarter, so that hosts take turns. */
  readonly every: Duration.Input
  /** Deals with up to `limit` and answers with how many it could deal with. */
  readonly run: (limit: number) => Effect.Effect<number, unknown>
}

/** At most this many in one go. */
const setMax = 500

/** Sweeps for as long as the layer lives. A failing sweep is logged and tried again at its next time. */
export const layer = (sweeps: ReadonlyArray<Sweep>): Layer.Layer<never> =>
  Layer.effectDiscard(Effect.forEach(sweeps, (sweep) => Effect.forkScoped(Effect.forever(rounds(sweep)))))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const rounds = ({ every, name, run }: Sweep) =>
  Random.nextBetween(0.75, 1.25).pipe(
    Effect.flatMap((spread) => Effect.sleep(Duration.times(Duration.fromInputUnsafe(every), spread))),
    // A full set says that there may be more.
    Effect.andThen(Effect.repeat(run(setMax), { while: (done) => done >= setMax })),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : Effect.logWarning(`The sweep of ${name} failed`, cause)
    ),
    Effect.ignore
  )
