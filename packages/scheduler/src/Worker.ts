/**
 * Claims and runs jobs in this process.
 *
 * A worker holds one lease for all its jobs, and interrupts them if it cannot renew the lease
 * in time, and a job that others have ended or requeued. It settles jobs that end at the same moment in one unit of work, takes over the jobs
 * of lost workers, and releases its own jobs and its lease when it stops. A job whose worker was
 * lost in all attempts but the last one runs without other jobs beside it. It claims as soon as a job is queued in this process, or in another one that
 * notifies it, and polls. While it sleeps, `Scheduler.enqueue` of this process hands jobs to it without a claim.
 */
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Context, Effect, Layer, Semaphore } from "effect"
import * as AloneRuns from "./internal/worker/aloneRuns.ts"
import { makeClaimLoop } from "./internal/worker/claimLoop.ts"
import { makeDelayLoop } from "./internal/worker/delayLoop.ts"
import { makeDrain } from "./internal/worker/drain.ts"
import { makeDrainRequests } from "./internal/worker/drainRequests.ts"
import * as Idle from "./internal/worker/idle.ts"
import { makeLostJobs } from "./internal/worker/lostJobs.ts"
import * as Metrics from "./internal/worker/metrics.ts"
import { makeReceiver } from "./internal/worker/receiver.ts"
import { makeRescueLoop } from "./internal/worker/rescueLoop.ts"
import * as RunningJobs from "./internal/worker/runningJobs.ts"
import { type Settings, settingsOf, type WorkerOptions } from "./internal/worker/settings.ts"
import { makeStartJob } from "./internal/worker/startJob.ts"
import * as WorkerLease from "./internal/worker/workerLease.ts"
import type { ClaimedJob } from "./Job.ts"
import type { Scheduler } from "./Scheduler.ts"
import { Wakeup } from "./Wakeup.ts"

/**
 * A worker in this process. It drains when the scope of its layer closes. When `Scheduler.drain` asks for it, it claims no
 * more jobs until `Scheduler.resume`.
 */
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

/** Provides a worker. It works while the layer lives. Dies when it is built if a number of the options is not a whole number of its range. */
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
  yield* checkNumbers(settings)
  const running = RunningJobs.make(concurrency, yield* Metrics.makeCountRunning)
  const lease = yield* WorkerLease.make(settings, running)
  const alone = yield* AloneRuns.make(settings, running, lease)
  const leasing = Semaphore.makeUnsafe(1)
  const idle = Idle.make()
  const leased = { running, lease, alone, leasing }
  const parts = { ...leased, idle, start: yield* makeStartJob(settings, leased) }
  const forkAll = (loops: ReadonlyArray<Effect.Effect<never>>) =>
    concurrency === 0 ? Effect.succeed([]) : Effect.forEach(loops, (loop) => Effect.forkScoped(loop))
  const holding = yield* forkAll([lease.renew, lease.watch, yield* makeLostJobs(settings, running)])
  const starting = yield* forkAll([
    yield* makeClaimLoop(settings, parts),
    yield* makeRescueLoop(settings, parts),
    yield* makeDelayLoop(settings, parts),
    yield* makeDrainRequests(settings, parts)
  ])
  const { handovers } = yield* Wakeup
  const receiver = yield* makeReceiver(settings, parts)
  yield* Effect.acquireRelease(
    Effect.sync(() => handovers.add(receiver)),
    (remove) => Effect.sync(remove)
  )
  yield* Metrics.offer(concurrency)
  const drain = yield* makeDrain(settings, parts, { starting, holding })
  yield* Effect.addFinalizer(() => drain)
  return Worker.of({ running: Effect.sync(() => running.jobs()), drain })
})

/** A `claimMax` of 0 would never be fewer than what a rescue returns, so the rescue would repeat forever. */
const checkNumbers = ({ claimMax, concurrency, name, reserved }: Settings): Effect.Effect<void> => {
  const minima = { claimMax: [claimMax, 1], concurrency: [concurrency, 0], reserved: [reserved, 0] } as const
  for (const [option, [value, min]] of Object.entries(minima)) {
    if (!Number.isSafeInteger(value) || value < min) {
      return Effect.die(
        new Error(`The ${option} of the worker ${name} must be a whole number of at least ${min}, got ${value}`)
      )
    }
  }
  return Effect.void
}
