/** Runs sweeps at intervals. Any number of hosts may run the same sweeps: each row is handled once. */
import { Cause, Duration, Effect, Layer, Random } from "effect"

/** A sweep. */
export interface Sweep {
  /** What the sweep handles, for the log. */
  readonly name: string
  /** Mean interval between two runs. */
  readonly every: Duration.Input
  /** Handles up to `limit` rows and returns how many it handled. */
  readonly run: (limit: number) => Effect.Effect<number, unknown>
}

/** Options for `Sweeper.layer`. */
export interface SweeperOptions {
  /** Waits for the next run. Default: sleeps for the interval, randomised by 25 %, so that hosts do not run in step. */
  readonly pause?: ((every: Duration.Input) => Effect.Effect<void>) | undefined
}

/** Maximum number of rows that a sweep handles in one call. */
const limit = 500

/** Runs the sweeps until the layer's scope closes. Logs a failure and continues at the next interval. */
export const layer = (sweeps: ReadonlyArray<Sweep>, { pause = jittered }: SweeperOptions = {}): Layer.Layer<never> =>
  Layer.effectDiscard(Effect.forEach(sweeps, (sweep) => Effect.forkScoped(Effect.forever(runNext(sweep, pause)))))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const jittered = (every: Duration.Input) =>
  Effect.flatMap(
    Random.nextBetween(0.75, 1.25),
    (factor) => Effect.sleep(Duration.times(Duration.fromInputUnsafe(every), factor))
  )

const runNext = ({ every, name, run }: Sweep, pause: (every: Duration.Input) => Effect.Effect<void>) =>
  pause(every).pipe(
    // A full set means that there may be more rows.
    Effect.andThen(Effect.repeat(run(limit), { while: (handled) => handled >= limit })),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : Effect.logWarning(`The sweep of ${name} failed`, cause)
    ),
    Effect.ignore
  )
