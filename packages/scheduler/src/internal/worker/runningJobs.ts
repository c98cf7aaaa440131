/** The jobs that a worker holds, and the fibers that run them. */
import { Effect, type Fiber, Latch } from "effect"
import type { ClaimedJob, JobAddress } from "../../Job.ts"
import type { GroupId, JobId } from "../ids.ts"

/**
 * The jobs of one worker. A job may be claimed again under a newer lease before its run under
 * the old one has ended, so a job is the object that was given to `start`.
 */
export interface RunningJobs {
  readonly jobs: () => ReadonlyArray<ClaimedJob>
  /** Returns the ids of the jobs that run, and of those that a slot is reserved for. */
  readonly ids: () => ReadonlyArray<JobId>
  /** Returns the groups of the same jobs, once per job. */
  readonly groups: () => ReadonlyArray<GroupId>
  /** Reserves a slot for a job that may be leased to the worker. Returns a function that ends the reservation, given whether the job has started. */
  readonly reserve: (job: JobAddress) => (hasStarted: boolean) => void
  /** Waits until another job may start. */
  readonly hasRoom: Effect.Effect<void>
  /** Waits until no slot is reserved. */
  readonly isUnreserved: Effect.Effect<void>
  /** Waits until the worker holds no job, and no slot is reserved. */
  readonly isEmpty: Effect.Effect<void>
  /** Calls the listener after each job that ends, and each slot that was reserved and not used. */
  readonly onEnd: (listener: () => void) => void
  /** Runs `body` in a separate fiber. `body` runs `settling` before it settles the job. */
  readonly start: (
    job: ClaimedJob,
    body: (settling: Effect.Effect<void>) => Effect.Effect<void>
  ) => Effect.Effect<void>
  /** Frees the slot of a job that has been settled, before its fiber ends. */
  readonly free: (job: ClaimedJob) => void
  /** Returns whether the job is held and not settling. */
  readonly isWorking: (job: ClaimedJob) => boolean
  /** Interrupts a job without waiting for its fiber. */
  readonly interrupt: (job: ClaimedJob) => void
}

/** Creates an empty set with room for `max` jobs. `onCount`: called with 1 for each job that it adds, and with -1 for each that it removes. */
export const make = (max: number, onCount: (change: 1 | -1) => void): RunningJobs => {
  const running = new Map<ClaimedJob, RunningJob>()
  const reserved = new Set<JobAddress>()
  const roomLatch = Latch.makeUnsafe(max > 0)
  const unreservedLatch = Latch.makeUnsafe(true)
  const emptyLatch = Latch.makeUnsafe(true)
  const listeners: Array<() => void> = []

  const taken = () => running.size + reserved.size
  const setLatches = () => {
    setOpen(roomLatch, taken() < max)
    setOpen(unreservedLatch, reserved.size === 0)
    setOpen(emptyLatch, taken() === 0)
  }
  const add = (job: ClaimedJob) => {
    const added: RunningJob = { fiber: undefined, settling: false }
    running.set(job, added)
    onCount(1)
    setLatches()
    return added
  }
  const remove = (job: ClaimedJob) => {
    if (!running.delete(job)) return
    onCount(-1)
    setLatches()
    for (const listener of listeners) listener()
  }
  const addresses = (): ReadonlyArray<JobAddress> => [...running.keys(), ...reserved]

  return {
    jobs: () => Array.from(running.keys()),
    ids: () => addresses().map(({ job }) => job),
    groups: () => addresses().map(({ group }) => group),
    reserve: (job) => {
      const slot = { ...job }
      reserved.add(slot)
      setLatches()
      return (hasStarted) => {
        if (!reserved.delete(slot)) return
        setLatches()
        if (!hasStarted) { for (const listener of listeners) listener() }
      }
    },
    hasRoom: roomLatch.await,
    isUnreserved: unreservedLatch.await,
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
    free: remove,
    isWorking: (job) => running.get(job)?.settling === false,
    interrupt: (job) => running.get(job)?.fiber?.interruptUnsafe()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface RunningJob {
  fiber: Fiber.Fiber<void> | undefined
  settling: boolean
}

const setOpen = (latch: Latch.Latch, isOpen: boolean): void => void (isOpen ? latch.openUnsafe() : latch.closeUnsafe())
