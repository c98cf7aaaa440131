/** Claims jobs when the worker has room for them. */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect } from "effect"
import type { ClaimedJob } from "../../Job.ts"
import { Scheduler } from "../../Scheduler.ts"
import { Wakeup } from "../../Wakeup.ts"
import * as KindName from "../kindName.ts"
import type { RunningJobs } from "./runningJobs.ts"
import { claimOptions, logFailure, type Settings } from "./settings.ts"
import type { StartJob } from "./startJob.ts"

/**
 * Creates the loop. One fiber claims for the whole worker, so that a set collects while the
 * previous one is claimed. It sleeps while no job is queued, until a wake-up or a poll.
 */
export const makeClaimLoop = Effect.fnUntraced(function*(settings: Settings, running: RunningJobs, start: StartJob) {
  const wakeup = yield* (yield* Wakeup).subscribe
  const claimJobs = yield* makeClaim(settings)

  /** Returns whether more jobs may be queued. Uninterruptible, so that every claimed job is started. */
  const claim = Effect.gen(function*() {
    wakeup.closeUnsafe()
    const limit = Math.min(settings.claimMax, running.room())
    const jobs = yield* claimJobs(limit)
    yield* Effect.forEach(jobs, (job) => start(job), { discard: true })
    return jobs.length === limit
  }).pipe(logFailure("Claiming jobs failed", false), Effect.uninterruptible)

  return Effect.gen(function*() {
    yield* running.hasRoom
    const more = yield* claim
    if (!more) yield* Effect.timeoutOption(wakeup.await, settings.pollInterval)
  }).pipe(Effect.forever)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Claims jobs and calls `claimed` of their handlers in one unit of work. */
const makeClaim = Effect.fnUntraced(function*(settings: Settings) {
  const { atomically } = yield* UnitOfWork
  const scheduler = yield* Scheduler
  const claim = (limit: number) => scheduler.claim(claimOptions(settings, limit))
  const callClaimed = (jobs: ReadonlyArray<ClaimedJob>) =>
    Effect.forEach(settings.handlers, ({ claimed, kind }) => {
      const own = jobs.filter((job) => KindName.baseOf(job.kind) === kind)
      return claimed === undefined || own.length === 0 ? Effect.void : claimed(own)
    }, { discard: true })
  return settings.handlers.some(({ claimed }) => claimed !== undefined)
    ? (limit: number) => atomically(Effect.tap(claim(limit), callClaimed))
    : claim
})
