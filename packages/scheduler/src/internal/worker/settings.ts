/** Options of a worker, and their defaults. */
import { Duration, Effect } from "effect"
import type { JobHandler } from "../../JobHandler.ts"

/** Options for `Worker.layer`. */
export interface WorkerOptions {
  /** Shown with the jobs that the worker holds. */
  readonly name: string
  /** Its id in `Scheduler.offers`, unique per start of a worker. Default: random. */
  readonly id?: string | undefined
  /** One per kind. Several handlers of one kind are a defect. */
  readonly handlers: ReadonlyArray<JobHandler>
  /** Maximum number of jobs that run at the same time. With 0 the worker does nothing. Default 8. */
  readonly concurrency?: number | undefined
  /**
   * Slots that the jobs of one group leave to other groups, so that a job of another group need
   * not wait until a long one ends. One group gets at least one slot. Default 0.
   */
  readonly reserved?: number | undefined
  /** Maximum number of jobs per claim, rescue and set of delayed jobs, at least 1. Default 256. */
  readonly claimMax?: number | undefined
  /** Time between polls for jobs of other processes. Default 5 seconds. */
  readonly pollInterval?: Duration.Input | undefined
  /**
   * Time until the worker's lease expires unless it is renewed. Other workers take over its jobs
   * after that, and it interrupts them itself. Default 8 seconds.
   */
  readonly lease?: Duration.Input | undefined
  /** Time between renewals of the lease. Default a quarter of `lease`. */
  readonly heartbeatInterval?: Duration.Input | undefined
  /** Average time between searches for lost workers. Each pause varies by half. Default a quarter of `lease`. */
  readonly rescueInterval?: Duration.Input | undefined
  /** How long a drain waits for running jobs. Default 30 seconds. */
  readonly grace?: Duration.Input | undefined
}

/** The options of a worker, with their defaults. */
export interface Settings {
  readonly name: string
  /** Its id; `undefined`: a random one. */
  readonly id: string | undefined
  readonly handlers: ReadonlyArray<JobHandler>
  readonly concurrency: number
  readonly reserved: number
  readonly claimMax: number
  readonly pollInterval: Duration.Duration
  readonly lease: Duration.Duration
  readonly heartbeatInterval: Duration.Duration
  readonly rescueInterval: Duration.Duration
  readonly grace: Duration.Duration
}

/** Applies the defaults. */
export const settingsOf = (options: WorkerOptions): Settings => {
  const lease = Duration.fromInputUnsafe(options.lease ?? "8 seconds")
  const quarter = Duration.divideUnsafe(lease, 4)
  return {
    name: options.name,
    id: options.id,
    handlers: options.handlers,
    concurrency: options.concurrency ?? 8,
    reserved: options.reserved ?? 0,
    claimMax: options.claimMax ?? 256,
    pollInterval: Duration.fromInputUnsafe(options.pollInterval ?? "5 seconds"),
    lease,
    heartbeatInterval: Duration.fromInputUnsafe(options.heartbeatInterval ?? quarter),
    rescueInterval: Duration.fromInputUnsafe(options.rescueInterval ?? quarter),
    grace: Duration.fromInputUnsafe(options.grace ?? "30 seconds")
  }
}

/** The kinds and pools that the worker claims. */
export const kindsOf = ({ handlers }: Settings): ReadonlyArray<string> => handlers.flatMap(({ claims }) => claims)

/** Logs a failure of one round and returns `otherwise`, so that the loop continues with the next round. */
export const logFailure =
  <B>(message: string, otherwise: B) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A | B, never, R> =>
    Effect.catchCause(effect, (cause) => Effect.as(Effect.logError(message, cause), otherwise))
