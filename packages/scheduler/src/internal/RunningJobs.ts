/** The jobs that a worker holds, and the fibers that run them. */
import { Effect, type Fiber, Latch } from "effect"
import type { ClaimedJob, Lease } from "../Job.ts"

/**
 * The jobs of one worker. A job is known by its lease: it may come back under a newer
 * one before what ran under the old one is gone.
 */
export interface RunningJobs {
  readonly jobs: () => ReadonlyArray<ClaimedJob>
  /** How many more may be started. */
  readonly room: () => number
  /** Waits until there is room. */
  readonly hasRoom: Effect.Effect<void>
  /** Waits until no job is left. */
  readonly isEmpty: Effect.Effect<void>
  /** Runs `body` on a fiber of its own; it runs `settling` when nothing is left to do but to settle. */
  readonly start: (
    job: ClaimedJob,
    body: (settling: Effect.Effect<void>) => Effect.Effect<void>
  ) => Effect.Effect<void>
  /** Whether it is at work, and not settling. */
  readonly isWorking: (lease: Lease) => boolean
  /** Interrupts it without waiting for its end. */
  readonly interrupt: (lease: Lease) => void
}

/** No jobs, and room for some. */
export const make = (max: number): RunningJobs => {
  const running = new Map<string, RunningJob>()
  const roomLatch = Latch.makeUnsafe(max > 0)
  const emptyLatch = Latch.makeUnsafe(true)

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
  }

  return {
    jobs: () => Array.from(running.values(), ({ job }) => job),
    room: () => Math.max(0, max - running.size),
    hasRoom: roomLatch.await,
    isEmpty: emptyLatch.await,
    start: (job, body) =>
      Effect.suspend(() => {
        const added = add(job)
        const settling = Effect.sync(() => {
          added.settling = true
        })
        return body(settling).pipe(
          Effect.ensuring(Effect.sync(() => remove(job))),
          // A drain waits for it, so it must outlive the fiber that claimed it. One that is
          // interrupted before it began would not even end.
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
