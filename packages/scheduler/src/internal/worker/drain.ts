/** Stops a worker. */
import { Duration, Effect, Fiber, Latch } from "effect"
import { Scheduler } from "../../Scheduler.ts"
import { makeLeaving } from "./leftAttempts.ts"
import { logFailure, type Settings } from "./settings.ts"
import type { WorkerParts } from "./workerParts.ts"

/** The fibers of a worker. */
export interface WorkerFibers {
  /** They start jobs, and are interrupted first. */
  readonly starting: ReadonlyArray<Fiber.Fiber<never>>
  /** They hold the lease until no job is left. */
  readonly holding: ReadonlyArray<Fiber.Fiber<never>>
}

/** Creates an effect that drains the worker. Every call waits for the same drain. */
export const makeDrain = Effect.fnUntraced(function*(
  settings: Settings,
  { lease, leasing, running }: Pick<WorkerParts, "lease" | "leasing" | "running">,
  fibers: WorkerFibers
) {
  const finish = yield* makeFinish(settings, { leasing, running })
  const drained = Latch.makeUnsafe(false)
  let isDraining = false

  const stop = Effect.gen(function*() {
    yield* Fiber.interruptAll(fibers.starting)
    yield* lease.offer(false)
    yield* finish
    yield* Fiber.interruptAll(fibers.holding)
    yield* lease.giveBack
  }).pipe(Effect.ensuring(drained.open), Effect.withSpan("Worker.drain"))

  return Effect.suspend(() => {
    const isFirst = !isDraining
    isDraining = true
    // In a separate fiber, so that interrupting a caller does not stop the drain.
    return isFirst ? Effect.andThen(Effect.forkDetach(stop), drained.await) : drained.await
  })
})

/**
 * Creates an effect that waits up to `grace` for the running jobs, then interrupts the remaining ones and releases them
 * with their checkpoints. Only the wait can be interrupted.
 */
export const makeFinish = Effect.fnUntraced(function*(
  settings: Settings,
  { leasing, running }: Pick<WorkerParts, "leasing" | "running">
) {
  const scheduler = yield* Scheduler
  const leaving = yield* makeLeaving(settings)

  const release = Effect.gen(function*() {
    // A call that is under way may lease jobs. It has reserved their slots when it ends.
    yield* Effect.timeoutOption(Effect.interruptible(leasing.withPermits(1)(Effect.void)), leasingMax)
    // These jobs start before the others are interrupted, and so does a job whose unit commits at this moment.
    yield* running.isUnreserved
    const left = running.jobs()
    // Jobs that are settling may finish.
    for (const job of left) if (running.isWorking(job)) running.interrupt(job)
    yield* Effect.timeoutOption(Effect.interruptible(running.isEmpty), interruptionMax)
    for (const job of left) running.interrupt(job)
    yield* leaving(scheduler.release(left), "returned", () => left).pipe(
      logFailure("Releasing jobs failed; they are rescued after the lease of the worker", undefined)
    )
  })

  return Effect.andThen(Effect.timeoutOption(running.isEmpty, settings.grace), Effect.uninterruptible(release))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** How long a drain waits for a call that leases jobs. Longer than the deadline of the statement that ends jobs. A claim has none. */
const leasingMax = Duration.seconds(15)

/** How long a drain waits for interrupted jobs to clean up before it releases them. */
const interruptionMax = Duration.seconds(5)
