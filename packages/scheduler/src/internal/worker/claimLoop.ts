/** Claims jobs when the worker has room for them. */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect } from "effect"
import type { ClaimedJob } from "../../Job.ts"
import type { JobHandler } from "../../JobHandler.ts"
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
  let hasLimited = false
  // An ended job may make room in a pool whose queued jobs the last claim left out.
  running.onEnd(() => {
    if (hasLimited) wakeup.openUnsafe()
  })

  /** Claims and starts jobs. Returns whether more of these kinds may be queued. */
  const claimAndStart = Effect.fnUntraced(function*(kinds: ReadonlyArray<string>, limit: number) {
    const jobs = yield* claimJobs(kinds, limit)
    yield* Effect.forEach(jobs, (job) => start(job), { discard: true })
    return jobs.length === limit
  })

  /** Returns whether more jobs may be queued. Uninterruptible, so that every claimed job is started. */
  const claim = Effect.gen(function*() {
    wakeup.closeUnsafe()
    const limit = Math.min(settings.claimMax, running.room())
    const { limited, open } = yield* partition(settings, limit)
    hasLimited = limited.length > 0
    const more = yield* claimAndStart(open, limit)
    for (const { kinds, room } of limited) {
      // Read again, since the jobs that have just started may share the limit.
      const left = Math.min(settings.claimMax, running.room(), yield* room)
      if (left > 0) yield* claimAndStart(kinds, left)
    }
    return more
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

type Limit = JobHandler["limits"][number]

/**
 * Divides the kinds into those that one claim of `limit` jobs may contain, in the order of
 * the queue, and the limits that leave room for fewer. A worker that is nearly full claims
 * all kinds with any room together, so no pool is starved by the others.
 */
const partition = Effect.fnUntraced(function*({ handlers }: Settings, limit: number) {
  const open = new Set(handlers.flatMap(({ claims }) => claims))
  const limited: Array<Limit> = []
  for (const pools of handlers.flatMap(({ limits }) => limits)) {
    if ((yield* pools.room) >= limit) continue
    limited.push(pools)
    for (const kind of pools.kinds) open.delete(kind)
  }
  return { open: Array.from(open), limited }
})

/** Claims jobs and calls `claimed` of their handlers in one unit of work. */
const makeClaim = Effect.fnUntraced(function*(settings: Settings) {
  const { atomically } = yield* UnitOfWork
  const scheduler = yield* Scheduler
  const claim = (kinds: ReadonlyArray<string>, limit: number) => scheduler.claim(claimOptions(settings, kinds, limit))
  const callClaimed = (jobs: ReadonlyArray<ClaimedJob>) =>
    Effect.forEach(settings.handlers, ({ claimed, kind }) => {
      const own = jobs.filter((job) => KindName.baseOf(job.kind) === kind)
      return claimed === undefined || own.length === 0 ? Effect.void : claimed(own)
    }, { discard: true })
  return settings.handlers.some(({ claimed }) => claimed !== undefined)
    ? (kinds: ReadonlyArray<string>, limit: number) => atomically(Effect.tap(claim(kinds, limit), callClaimed))
    : claim
})
