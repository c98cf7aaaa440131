/** Claims jobs when the worker has room for them. */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect } from "effect"
import type { ClaimedJob } from "../../Job.ts"
import { Scheduler } from "../../Scheduler.ts"
import { Wakeup } from "../../Wakeup.ts"
import * as KindName from "../kindName.ts"
import type { ClaimOptions } from "../requests.ts"
import { openKinds } from "./openKinds.ts"
import { selectionOf } from "./selection.ts"
import { kindsOf, logFailure, type Settings } from "./settings.ts"
import { startOrder } from "./startOrder.ts"
import type { WorkerParts } from "./workerParts.ts"

/**
 * Creates the loop. One fiber claims for the whole worker, so that a set collects while the
 * previous one is claimed. It sleeps while no job is queued, until a wake-up for its kinds or a poll.
 */
export const makeClaimLoop = Effect.fnUntraced(
  function*(settings: Settings, { alone, idle, lease, leasing, running, start }: WorkerParts) {
    const wakeup = yield* (yield* Wakeup).subscribeTo(kindsOf(settings))
    const claimJobs = yield* makeClaim(settings)
    let leftOut = false
    // An ended job may make room in a pool or for a group whose queued jobs the last claim left out.
    running.onEnd(() => {
      if (leftOut) wakeup.openUnsafe()
    })
    alone.onDue(() => wakeup.openUnsafe())

    const next = () => selectionOf({ ...settings, held: running.groups() })

    /** Claims and starts jobs. Returns whether more of these kinds may be queued. */
    const claimAndStart = Effect.fnUntraced(
      function*(selected: Pick<ClaimOptions, "alone" | "except" | "kinds" | "limit" | "resumableKinds">) {
        const current = lease.current()
        if (current === undefined || !lease.isOffering()) return false
        const jobs = yield* claimJobs({ ...selected, lease: current, worker: settings.name })
        // Claimed under a lease that has ended since: rescued like the others.
        if (lease.current() !== current) return false
        yield* Effect.forEach(startOrder(jobs), (job) => start(job), { discard: true })
        return jobs.length === selected.limit
      },
      leasing.withPermits(1)
    )

    /** Returns whether more jobs may be queued. Uninterruptible, so that every claimed job is started. */
    const claim = Effect.gen(function*() {
      wakeup.closeUnsafe()
      const selection = next()
      const { claimed, limited } = yield* openKinds(settings, selection.limit)
      leftOut = limited.length > 0 || selection.except.length > 0
      const more = yield* claimAndStart({ ...selection, ...claimed })
      for (const { kinds, room } of limited) {
        // Read again, since the jobs that have just started may share the limit.
        const { except, limit } = next()
        const left = Math.min(limit, yield* room)
        if (left > 0) yield* claimAndStart({ except, kinds, limit: left })
      }
      return more
    }).pipe(logFailure("Claiming jobs failed", false), Effect.uninterruptible)

    const claimAlone = Effect.gen(function*() {
      alone.take()
      const { claimed } = yield* openKinds(settings, 1)
      yield* claimAndStart({ ...claimed, limit: 1, alone: true })
    }).pipe(logFailure("Claiming a job that runs alone failed", undefined), Effect.uninterruptible)

    return Effect.gen(function*() {
      yield* lease.isHeld
      yield* lease.isOffered
      yield* running.hasRoom
      if (alone.isDue()) return yield* alone.run(claimAlone)
      const more = yield* claim
      if (!more) yield* idle.during(Effect.timeoutOption(wakeup.await, settings.pollInterval))
    }).pipe(Effect.forever)
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Claims jobs and calls `claimed` of their handlers in one unit of work. */
const makeClaim = Effect.fnUntraced(function*(settings: Settings) {
  const { atomically } = yield* UnitOfWork
  const scheduler = yield* Scheduler
  const callClaimed = (jobs: ReadonlyArray<ClaimedJob>) =>
    Effect.forEach(settings.handlers, ({ claimed, kind }) => {
      const own = jobs.filter((job) => KindName.baseOf(job.kind) === kind)
      return claimed === undefined || own.length === 0 ? Effect.void : claimed(own, settings.name)
    }, { discard: true })
  return settings.handlers.some(({ claimed }) => claimed !== undefined)
    ? (options: ClaimOptions) => atomically(Effect.tap(scheduler.claim(options), callClaimed))
    : scheduler.claim
})
