/** Takes over the jobs of lost workers, and those of the worker itself that it does not run. */
import { DateTime, Duration, Effect, Option, Random } from "effect"
import type { ClaimedJob } from "../../Job.ts"
import type { WorkerFailure } from "../../JobHandler.ts"
import { Scheduler } from "../../Scheduler.ts"
import { AttemptsExhausted, TimeLimitExceeded } from "../workerFailures.ts"
import { makeLeaving } from "./leftAttempts.ts"
import { logFailure, type Settings } from "./settings.ts"
import type { WorkerParts } from "./workerParts.ts"

/** Creates the loop. It starts with a rescue, since a worker that restarts after a crash may find its own jobs. */
export const makeRescueLoop = Effect.fnUntraced(
  function*(settings: Settings, { alone, idle, lease, leasing, running, start }: WorkerParts) {
    const scheduler = yield* Scheduler
    const leaving = yield* makeLeaving(settings)

    /** Returns whether more workers may be lost. Uninterruptible, so that every job without attempts is failed. */
    const rescue = Effect.fnUntraced(function*(isFirst: boolean) {
      const current = lease.current()
      if (current === undefined) return false
      const { exhausted, requeued } = yield* leaving(
        scheduler.rescue({
          lease: current,
          worker: settings.name,
          kinds: settings.handlers.map(({ kind }) => kind),
          limit: settings.claimMax,
          // Once per search, since a job that cannot be settled would be found again at once.
          held: isFirst ? running.ids() : undefined
        }),
        "lost",
        ({ exhausted, requeued }) => [...exhausted, ...requeued].map(({ job }) => ({ job, epoch: undefined }))
      )
      for (const { job } of requeued) {
        yield* Effect.logWarning("The worker of a job was lost; the job is queued again", { job })
      }
      // Leased under a lease that has ended since: rescued again.
      if (lease.current() !== current) return false
      yield* Effect.forEach(exhausted, (job) => start(job, failureOf(job)), { discard: true })
      return exhausted.length + requeued.length === settings.claimMax
    }, (search) =>
      search.pipe(
        idle.except,
        leasing.withPermits(1),
        logFailure("Rescuing jobs of lost workers failed", false),
        Effect.uninterruptible
      ))

    const look = alone.look.pipe(logFailure("Looking for jobs that run alone failed", undefined))

    return Effect.gen(function*() {
      yield* lease.isHeld
      let isFirst = true
      while (yield* rescue(isFirst)) isFirst = false
      yield* look
      const spread = yield* Random.nextBetween(0.5, 1.5)
      yield* Effect.sleep(Duration.times(settings.rescueInterval, spread))
    }).pipe(Effect.forever)
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Why a rescue leased a job to be failed. */
const failureOf = (
  { attempt, claimedAt, job, startedAt, timeLimit }: ClaimedJob
): WorkerFailure =>
  Option.exists(timeLimit, (limit) => DateTime.isLessThanOrEqualTo(DateTime.addDuration(startedAt, limit), claimedAt))
    ? new TimeLimitExceeded({ job })
    : new AttemptsExhausted({ job, attempts: attempt })
