/** Takes over the jobs of lost workers. */
import { Duration, Effect, Random } from "effect"
import { AttemptsExhausted } from "../../JobHandler.ts"
import { Scheduler } from "../../Scheduler.ts"
import { claimOptions, logFailure, type Settings } from "./settings.ts"
import type { StartJob } from "./startJob.ts"

/** Creates the loop. It starts with a rescue, since a worker that restarts after a crash may find its own jobs. */
export const makeRescueLoop = Effect.fnUntraced(function*(settings: Settings, start: StartJob) {
  const scheduler = yield* Scheduler

  /** Returns whether more leases may have expired. Uninterruptible, so that every job without attempts is failed. */
  const rescue = Effect.gen(function*() {
    const { exhausted, requeued } = yield* scheduler.rescue(claimOptions(settings, settings.claimMax))
    for (const { job } of requeued) {
      yield* Effect.logWarning("The worker of a job was lost; the job is queued again", { job })
    }
    yield* Effect.forEach(
      exhausted,
      (job) => start(job, new AttemptsExhausted({ job: job.job, attempts: job.attempt })),
      { discard: true }
    )
    return exhausted.length + requeued.length === settings.claimMax
  }).pipe(logFailure("Rescuing jobs of lost workers failed", false), Effect.uninterruptible)

  return Effect.gen(function*() {
    while (yield* rescue);
    const spread = yield* Random.nextBetween(0.5, 1.5)
    yield* Effect.sleep(Duration.times(settings.rescueInterval, spread))
  }).pipe(Effect.forever)
})
