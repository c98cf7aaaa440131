/**
 * Background work on old rows: expiry and deletion, in sets of a limited size.
 *
 * Any number of hosts may run the same sweep.
 */
import { Context, Duration, Effect, Layer, Random } from "effect"

/** Options for `layer`. */
export interface SweepOptions<R> {
  /** Name in log messages, such as `expired credits`. */
  readonly name: string
  /** Average time between two sweeps. Each pause varies by a quarter, so that hosts do not sweep at the same time. */
  readonly interval: Duration.Input
  /** Maximum number of rows of one call of `run`, at least 1. */
  readonly limit: number
  /** The highest `limit` that `run` accepts. Default: any. */
  readonly limitMax?: Effect.Effect<number, never, R> | undefined
  /** Works on up to `limit` rows and returns their number. Runs again immediately while it returns `limit`. */
  readonly run: (limit: number) => Effect.Effect<number, unknown, R>
}

/**
 * The pause between two sweeps, given the interval and the name of the sweep. Override it where time does not pass by itself,
 * for example under a virtual clock. Default: sleeps for the interval, varied by a quarter.
 */
export const Pause = Context.Reference<(interval: Duration.Input, name: string) => Effect.Effect<void>>(
  "@kinora/persistence/Sweep/Pause",
  { defaultValue: () => sleepVaried }
)

/**
 * The time in which one call of `run` has to end. Then it is interrupted, which counts as a failure: the sweep runs again after
 * its interval. Default 5 minutes.
 */
export const Deadline = Context.Reference<Duration.Input>("@kinora/persistence/Sweep/Deadline", {
  defaultValue: () => Duration.minutes(5)
})

/**
 * Runs a sweep at the interval while the layer lives. Logs failures and continues. Dies when
 * it is built if `limit` is not a whole number from 1 to `limitMax`.
 */
export const layer = <R>(options: SweepOptions<R>): Layer.Layer<never, never, R> =>
  Layer.effectDiscard(Effect.andThen(
    checkLimit(options),
    Effect.forkScoped(Effect.forever(Effect.andThen(pause(options), sweep(options))))
  ))

/** Options for `layerAged`. */
export interface AgedSweepOptions<R> extends Pick<SweepOptions<R>, "interval" | "limit" | "name"> {
  /** Age from which rows are deleted. If it is not finite, nothing is deleted. */
  readonly age: Duration.Input
  /** Deletes up to `limit` rows that are older than `age` and returns their number. */
  readonly run: (age: Duration.Duration, limit: number) => Effect.Effect<number, unknown, R>
}

/** `layer` for a sweep that deletes rows by their age. */
export const layerAged = <R>({ age, run, ...options }: AgedSweepOptions<R>): Layer.Layer<never, never, R> => {
  const finite = Duration.fromInputUnsafe(age)
  return Duration.isFinite(finite) ? layer({ ...options, run: (limit) => run(finite, limit) }) : Layer.empty
}

/** Options of the `layerSweep` of a package. Its docstring has the defaults. */
export interface LayerSweepOptions {
  /** See `SweepOptions`. */
  readonly interval?: Duration.Input | undefined
  /** See `SweepOptions`. */
  readonly limit?: number | undefined
}

/** Creates the `layerSweep` of a package: `layer`, with default options. */
export const make =
  <R>(defaults: SweepOptions<R>) =>
  ({ interval = defaults.interval, limit = defaults.limit }: LayerSweepOptions = {}): Layer.Layer<never, never, R> =>
    layer({ ...defaults, interval, limit })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const checkLimit = Effect.fnUntraced(function*<R>({ limit, limitMax, name }: SweepOptions<R>) {
  const max = limitMax === undefined ? Number.MAX_SAFE_INTEGER : yield* limitMax
  if (!Number.isInteger(limit) || limit < 1 || limit > max) {
    return yield* Effect.die(
      new Error(`The limit of the sweep of ${name} must be a whole number from 1 to ${max}, got ${limit}`)
    )
  }
})

const pause = <R>({ interval, name }: SweepOptions<R>) => Effect.flatMap(Pause, (pause) => pause(interval, name))

const sleepVaried = (interval: Duration.Input) =>
  Effect.flatMap(
    Random.nextBetween(0.75, 1.25),
    (spread) => Effect.sleep(Duration.times(Duration.fromInputUnsafe(interval), spread))
  )

const sweep = <R>({ limit, name, run }: SweepOptions<R>): Effect.Effect<void, never, R> =>
  Effect.flatMap(Deadline, (deadline) => Effect.timeout(run(limit), deadline)).pipe(
    Effect.repeat({ while: (count) => count >= limit }),
    // Interruptions inside of `run` too. The interruption of this fiber ends the sweep regardless.
    Effect.catchCause((cause) => Effect.logWarning(`The sweep of ${name} failed, retrying after the interval`, cause)),
    Effect.asVoid
  )
