/** The jobs that a worker holds, and the fibers that run them. */
import { Effect, type Fiber, Latch } from "effect"
import type { ClaimedJob, Lease } from "../../Job.ts"

/**
 * The jobs of one worker, by lease. A job may be claimed again under a newer lease before
 * its run under the old one has ended.
 */
export interface RunningJobs {
  readonly jobs: () => ReadonlyArray<ClaimedJob>
  /** Returns how many more jobs may start. */
  readonly room: () => number
  /** Waits until another job may start. */
  readonly hasRoom: Effect.Effect<void>
  /** Waits until the worker holds no job. */
  readonly isEmpty: Effect.Effect<void>
  /** Calls the listener after each job that ends. */
  readonly onEnd: (listener: () => void) => void
  /** Runs `body` in a separate fiber. `body` runs `settling` before it settles the job. */
  readonly start: (
    job: ClaimedJob,
    body: (settling: Effect.Effect<void>) => Effect.Effect<void>
  ) => Effect.Effect<void>
  /** Returns whether the job is held and not settling. */
  readonly isWorking: (lease: Lease) => boolean
  /** Interrupts a job without waiting for its fiber. */
  readonly interrupt: (lease: Lease) => void
}

/** Creates an empty set with room for `max` jobs. */
export const make = (max: number): RunningJobs => {
  const running = new Map<string, RunningJob>()
  const roomLatch = Latch.makeUnsafe(max > 0)
  const emptyLatch = Latch.makeUnsafe(true)
  const listeners: Array<() => void> = []

  const add = (job: ClaimedJob) => {
    const added: RunningJob = { job, fiber: undefined, settling: false }
    running.set(keyOf(job), added)
    emptyLatch.closeUnsafe()
    if (running.size >= max) roomLatch.closeUnsafe()
    return added
  }
  const remove = (job: ClaimedJob) => {
    running.delete(keyOf(job))
    if (running.size < max) roomLatch.openUnsafe()
    if (running.size === 0) emptyLatch.openUnsafe()
    for (const listener of listeners) listener()
  }

  return {
    jobs: () => Array.from(running.values(), ({ job }) => job),
    room: () => Math.max(0, max - running.size),
    hasRoom: roomLatch.await,
    isEmpty: emptyLatch.await,
    onEnd: (listener) => void listeners.push(listener),
    start: (job, body) =>
      Effect.suspend(() => {
        const added = add(job)
        const settling = Effect.sync(() => {
          added.settling = true
        })
        return body(settling).pipe(
          Effect.ensuring(Effect.sync(() => remove(job))),
          // Detached, since a drain waits for the job after the claiming fiber has ended. Started
          // immediately, since a fiber that is interrupted before it starts runs no finalizer.
          Effect.forkDetach({ startImmediately: true }),
          Effect.map((fiber) => {
            added.fiber = fiber
          })
        )
      }),
    isWorking: (lease) => running.get(keyOf(lease))?.settling === false,
    interrupt: (lease) => running.get(keyOf(lease))?.fiber?.interruptUnsafe()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface RunningJob {
  readonly job: ClaimedJob
  fiber: Fiber.Fiber<void> | undefined
  settling: boolean
}

const keyOf = ({ epoch, job }: Lease) => `${job}/${epoch}`
