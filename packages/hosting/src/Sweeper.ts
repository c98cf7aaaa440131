/** Runs sweeps from time to time. Any number of hosts may: a sweep takes what it finds, once. */
import { Cause, Duration, Effect, Layer, Random } from "effect"

/** One kind of leftover, and how to deal with it. */
export interface Sweep {
  /** Shown in the log when it fails. */
  readonly name: string
  /** How often to look. */
  readonly every: Duration.Input
  /** Deals with up to `limit` and answers with how many it could deal with. */
  readonly run: (limit: number) => Effect.Effect<number, unknown>
}

/** How sweeps run. */
export interface SweeperOptions {
  /** Waits until a sweep's next time. Default: as long as it says, spread by a quarter, so that hosts take turns. */
  readonly pause?: ((every: Duration.Input) => Effect.Effect<void>) | undefined
}

/** At most this many in one go. */
const setMax = 500

/** Sweeps for as long as the layer lives. A failing sweep is logged and tried again at its next time. */
export const layer = (sweeps: ReadonlyArray<Sweep>, { pause = spread }: SweeperOptions = {}): Layer.Layer<never> =>
  Layer.effectDiscard(Effect.forEach(sweeps, (sweep) => Effect.forkScoped(Effect.forever(round(sweep, pause)))))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const spread = (every: Duration.Input) =>
  Effect.flatMap(
    Random.nextBetween(0.75, 1.25),
    (spread) => Effect.sleep(Duration.times(Duration.fromInputUnsafe(every), spread))
  )

const round = ({ every, name, run }: Sweep, pause: (every: Duration.Input) => Effect.Effect<void>) =>
  pause(every).pipe(
    // A full set says that there may be more.
    Effect.andThen(Effect.repeat(run(setMax), { while: (done) => done >= setMax })),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : Effect.logWarning(`The sweep of ${name} failed`, cause)
    ),
    Effect.ignore
  )
