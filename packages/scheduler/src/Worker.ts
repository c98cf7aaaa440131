/**
 * Claims and runs jobs in this process.
 *
 * A worker announces which jobs it claims, renews the leases of its jobs, settles jobs that end at the same moment in one
 * unit of work, takes over the jobs of lost workers, and releases its own jobs when it
 * stops. It claims as soon as a job is queued in this process, and polls for the jobs of
 * other processes.
 */
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Context, Duration, Effect, Layer } from "effect"
import { makeClaimLoop } from "./internal/worker/claimLoop.ts"
import { makeDrain } from "./internal/worker/drain.ts"
import { makeHeartbeatLoop } from "./internal/worker/heartbeatLoop.ts"
import * as Metrics from "./internal/worker/metrics.ts"
import { makeOfferLoop } from "./internal/worker/offerLoop.ts"
import { makeRescueLoop } from "./internal/worker/rescueLoop.ts"
import * as RunningJobs from "./internal/worker/runningJobs.ts"
import type { Settings } from "./internal/worker/settings.ts"
import { makeStartJob } from "./internal/worker/startJob.ts"
import type { ClaimedJob } from "./Job.ts"
import type { JobHandler } from "./JobHandler.ts"
import type { Scheduler } from "./Scheduler.ts"
import type { Wakeup } from "./Wakeup.ts"

/** A worker in this process. It drains when the scope of its layer closes. */
export class Worker extends Context.Service<Worker, {
  /** Returns the jobs that it holds. */
  readonly running: Effect.Effect<ReadonlyArray<ClaimedJob>>
  /**
   * Stops claiming, waits up to `grace` for running jobs, then interrupts the remaining
   * ones and releases them with their checkpoints. Returns when the worker holds no job.
   * The worker does not start again. Idempotent: every call waits for the same drain.
   */
  readonly drain: Effect.Effect<void>
}>()("@kinora/scheduler/Worker") {}

/** Options for `Worker.layer`. */
export interface WorkerOptions {
  /** Shown with the jobs that the worker holds. */
  readonly name: string
  /** Id of its offer, unique per start of a worker. Default: random. */
  readonly id?: string | undefined
  /** One per kind. Several handlers of one kind are a defect. */
  readonly handlers: ReadonlyArray<JobHandler>
  /** Maximum number of jobs that run at the same time. With 0 the worker does nothing. Default 8. */
  readonly concurrency?: number | undefined
  /** Maximum number of jobs per claim and per rescue. Default 64. */
  readonly claimMax?: number | undefined
  /** Time between polls for jobs of other processes. Default 5 seconds. */
  readonly pollInterval?: Duration.Input | undefined
  /** Time until the worker's leases expire unless they are renewed. Default 30 seconds. */
  readonly lease?: Duration.Input | undefined
  /** Time between renewals of the leases. Default a third of `lease`. */
  readonly heartbeatInterval?: Duration.Input | undefined
  /** Average time between searches for expired leases. Each pause varies by half. Default a third of `lease`. */
  readonly rescueInterval?: Duration.Input | undefined
  /** How long a drain waits for running jobs. Default 30 seconds. */
  readonly grace?: Duration.Input | undefined
}

/** Provides a worker. It works while the layer lives. */
export const layer = (options: WorkerOptions): Layer.Layer<Worker, never, Scheduler | UnitOfWork | Wakeup> =>
  Layer.effect(Worker, make(settingsOf(options)))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const make = Effect.fnUntraced(function*(settings: Settings) {
  const { concurrency, handlers, name } = settings
  const kinds = handlers.map(({ kind }) => kind)
  if (new Set(kinds).size < kinds.length) {
    return yield* Effect.die(new Error(`The worker ${name} has several handlers of one kind: ${kinds.join(", ")}`))
  }
  const running = RunningJobs.make(concurrency)
  const start = yield* makeStartJob(running, handlers)
  const loops = [
    yield* makeClaimLoop(settings, running, start),
    yield* makeRescueLoop(settings, start),
    yield* makeOfferLoop(settings)
  ]
  const starting = concurrency === 0 ? [] : yield* Effect.forEach(loops, (loop) => Effect.forkScoped(loop))
  const heartbeat = yield* Effect.forkScoped(yield* makeHeartbeatLoop(settings, running))
  yield* Metrics.offer(concurrency)
  const drain = yield* makeDrain(settings, running, { starting, heartbeat })
  yield* Effect.addFinalizer(() => drain)
  return Worker.of({ running: Effect.sync(() => running.jobs()), drain })
})

const settingsOf = (options: WorkerOptions): Settings => {
  const lease = Duration.fromInputUnsafe(options.lease ?? "30 seconds")
  const third = Duration.divideUnsafe(lease, 3)
  return {
    name: options.name,
    id: options.id,
    handlers: options.handlers,
    concurrency: options.concurrency ?? 8,
    claimMax: options.claimMax ?? 64,
    pollInterval: Duration.fromInputUnsafe(options.pollInterval ?? "5 seconds"),
    lease,
    heartbeatInterval: Duration.fromInputUnsafe(options.heartbeatInterval ?? third),
    rescueInterval: Duration.fromInputUnsafe(options.rescueInterval ?? third),
    grace: Duration.fromInputUnsafe(options.grace ?? "30 seconds")
  }
}
