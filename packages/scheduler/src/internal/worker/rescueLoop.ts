/** Takes over the jobs of lost workers. */
import { DateTime, Duration, Effect, Option, Random } from "effect"
import type { ClaimedJob } from "../../Job.ts"
import { AttemptsExhausted, TimeLimitExceeded } from "../../JobHandler.ts"
import { Scheduler } from "../../Scheduler.ts"
import { logFailure, rescueOptions, type Settings } from "./settings.ts"
import type { StartJob } from "./startJob.ts"

/** Creates the loop. It starts with a rescue, since a worker that restarts after a crash may find its own jobs. */
export const makeRescueLoop = Effect.fnUntraced(function*(settings: Settings, start: StartJob) {
  const scheduler = yield* Scheduler

  /** Returns whether more leases may have expired. Uninterruptible, so that every job without attempts is failed. */
  const rescue = Effect.gen(function*() {
    const { exhausted, requeued } = yield* scheduler.rescue(rescueOptions(settings))
    for (const { job } of requeued) {
      yield* Effect.logWarning("The worker of a job was lost; the job is queued again", { job })
    }
    const now = yield* DateTime.now
    yield* Effect.forEach(exhausted, (job) => start(job, failureOf(job, now)), { discard: true })
    return exhausted.length + requeued.length === settings.claimMax
  }).pipe(logFailure("Rescuing jobs of lost workers failed", false), Effect.uninterruptible)

  return Effect.gen(function*() {
    while (yield* rescue);
    const spread = yield* Random.nextBetween(0.5, 1.5)
    yield* Effect.sleep(Duration.times(settings.rescueInterval, spread))
  }).pipe(Effect.forever)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Why a rescue leased a job to be failed. */
const failureOf = (
  { attempt, job, startedAt, timeLimit }: ClaimedJob,
  now: DateTime.Utc
): TimeLimitExceeded | AttemptsExhausted =>
  Option.exists(timeLimit, (limit) => DateTime.isLessThanOrEqualTo(DateTime.addDuration(startedAt, limit), now))
    ? new TimeLimitExceeded({ job })
    : new AttemptsExhausted({ job, attempts: attempt })
