/** Ends jobs, and starts those that get their slots. */
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { type Context, Effect, type Exit, type Semaphore } from "effect"
import type { ClaimedJob } from "../../Job.ts"
import { Scheduler } from "../../Scheduler.ts"
import { makeRefillTerms } from "./refillTerms.ts"
import type { Settings } from "./settings.ts"
import type { WorkerParts } from "./workerParts.ts"

/** Maximum number of jobs that one unit of work, or one statement, settles. */
export const settledMax = 256

/**
 * Creates a function that ends a job. Jobs that end at the same moment are ended in one statement, which leases the jobs
 * that get their slots to the worker. Those that it leaves are ended in a unit of work.
 */
export const makeEndJob = Effect.fnUntraced(function*(
  settings: Settings,
  { alone, lease, leasing, running, start }: Pick<WorkerParts, "alone" | "lease" | "leasing" | "running" | "start">
) {
  const scheduler = yield* Scheduler
  const unitOfWork = yield* UnitOfWork
  const context = yield* Effect.context()
  const termsFor = makeRefillTerms(settings, { alone, lease, running })

  /**
   * Ends the jobs, and reserves their slots for the leased ones. Returns the jobs that it left, and an effect that starts
   * the leased ones.
   */
  const endAndLease = Effect.fnUntraced(function*(ended: ReadonlyArray<ClaimedJob>) {
    const terms = yield* termsFor(ended)
    const { claimed, left } = yield* scheduler.settleAndClaim(ended, terms)
    const isHeld = () => lease.current() === terms?.lease
    const slots = isHeld() ? claimed.map((job) => ({ job, release: running.reserve(job) })) : []
    // After the slots are reserved, so that nobody gets them.
    const others = new Set(left)
    for (const job of ended) if (!others.has(job.job)) running.free(job)
    const startAll = Effect.forEach(slots, ({ job, release }) => {
      // Leased under a lease that has ended since: rescued like the others.
      const hasStarted = isHeld()
      return Effect.ensuring(hasStarted ? start(job) : Effect.void, Effect.sync(() => release(hasStarted)))
    }, { discard: true }).pipe(
      // A job runs with the services of its worker, not with those of the set, in which units leave lock timeouts to their caller.
      Effect.updateContext((_: Context.Context<never>) => context)
    )
    return { left, startAll }
  })

  /** Uninterruptible, so that every leased job is started. */
  const endAll = Effect.fnUntraced(function*(ended: ReadonlyArray<ClaimedJob>) {
    const { left, startAll } = yield* soon(leasing, endAndLease(ended), onlyEnd(ended))
    // The next set is sent before the jobs are started, so that the database works meanwhile.
    yield* Effect.yieldNow
    yield* startAll
    const others = new Set(left)
    return ended.map(({ job }) => !others.has(job))
  }, Effect.uninterruptible)

  /** Ends the jobs while another call leases jobs, to which it leaves the slots. */
  const onlyEnd = (ended: ReadonlyArray<ClaimedJob>) =>
    Effect.map(scheduler.settleAndClaim(ended), ({ left }) => ({ left, startAll: Effect.void }))

  const endFolded = Folding.makeWith(unitOfWork, {
    name: "Worker.settle",
    membersMax: setMax,
    // While one set is in the database, the jobs of another one start.
    setsMax: 2,
    keyOf: ({ group }: ClaimedJob) => group,
    run: endAll
  })
  return (job: ClaimedJob): Effect.Effect<void, StorageError> =>
    Effect.flatMap(endFolded(job), (isEnded) => isEnded ? Effect.void : settleOnly(scheduler, job))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A lost lease is ignored, since another worker has the job. */
const settleOnly = (scheduler: Scheduler["Service"], job: ClaimedJob) =>
  Effect.catchTag(Effect.asVoid(scheduler.settle(job)), "SchedulerError", () => Effect.void)

/**
 * Maximum number of jobs that one statement ends. Several sets of a worker with many jobs, so that one is in the database
 * while another starts.
 */
const setMax = 100

/** How long the end of a job waits for another call that leases jobs. */
const leasingMax = "1 second"

/**
 * Runs `body` while no other call leases jobs, if that is so within a short time, otherwise `orElse`. So a call that hangs
 * delays no job that ends.
 */
const soon = Effect.fnUntraced(function*<A, E>(
  leasing: Semaphore.Semaphore,
  body: Effect.Effect<A, E>,
  orElse: Effect.Effect<A, E>
) {
  let exit: Exit.Exit<A, E> | undefined
  const run = Effect.map(Effect.exit(body), (ended) => {
    exit = ended
  })
  // Only the wait ends. A body that has begun is uninterruptible.
  const begun = Effect.interruptible(leasing.withPermits(1)(Effect.uninterruptible(run)))
  yield* Effect.timeoutOption(begun, leasingMax)
  return yield* exit ?? orElse
})
