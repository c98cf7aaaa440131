/**
 * Claims jobs, runs them, keeps their leases, settles them in sets, takes over the
 * jobs of workers that were lost, and gives its own back when it has to stop.
 */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Context, type Duration, Effect, Layer } from "effect"
import type { ClaimedJob } from "./Job.ts"
import type { JobHandler } from "./JobHandler.ts"
import { Scheduler } from "./Scheduler.ts"
import { Wakeup } from "./Wakeup.ts"

/** A worker in this process. It works from when its layer is built, and drains when the layer's scope closes. */
export class Worker extends Context.Service<Worker, {
  /** The jobs that it holds now. */
  readonly running: Effect.Effect<ReadonlyArray<ClaimedJob>>
  /**
   * Stops claiming, lets running jobs finish for the grace time, interrupts the others
   * and releases them with their checkpoints. Returns when no job is left; the worker
   * does not start again. Calling it again waits for the same end.
   */
  readonly drain: Effect.Effect<void>
}>()("@kinora/scheduler/Worker") {}

/** How a worker works. */
export interface WorkerOptions {
  /** Its name, for people: shown with the jobs that it holds. */
  readonly name: string
  /** One per kind. */
  readonly handlers: ReadonlyArray<JobHandler>
  /** Jobs at the same time; 0 makes a worker that does nothing. Default 8. */
  readonly concurrency?: number | undefined
  /** Jobs per claim. Default 64. */
  readonly claimMax?: number | undefined
  /** How often it looks for work that nobody told it about. Default 5 seconds. */
  readonly pollInterval?: Duration.Input | undefined
  /** How long its jobs are safe from others without a heartbeat. Default 30 seconds. */
  readonly lease?: Duration.Input | undefined
  /** How often it extends its leases. Default 10 seconds. */
  readonly heartbeatInterval?: Duration.Input | undefined
  /** How often it looks for leases that ran out, spread by half so that workers take turns. Default 10 seconds. */
  readonly rescueInterval?: Duration.Input | undefined
  /** How long a drain lets jobs finish (D51). Default 30 seconds. */
  readonly grace?: Duration.Input | undefined
}

/** A worker. */
export const layer = (_options: WorkerOptions): Layer.Layer<Worker, never, Scheduler | UnitOfWork | Wakeup> =>
  Layer.effect(
    Worker,
    Effect.gen(function*() {
      yield* Scheduler
      yield* UnitOfWork
      yield* Wakeup
      return Worker.of({ running: Effect.succeed([]), drain: Effect.void })
    })
  )
