/** Runs a job in a separate fiber and settles it. */
import * as Decision from "@kinora/persistence/Decision"
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { type Duration, Effect, References, Schedule } from "effect"
import type { ClaimedJob } from "../../Job.ts"
import * as Lanes from "../../Lanes.ts"
import { Scheduler } from "../../Scheduler.ts"
import * as KindName from "../kindName.ts"
import { makeEndJob, settledMax } from "./endJob.ts"
import type { Settings } from "./settings.ts"
import type { StartJob, WorkerParts } from "./workerParts.ts"

/** Creates a `StartJob`. Jobs that end at the same moment are settled in one unit of work. */
export const makeStartJob = Effect.fnUntraced(
  function*(settings: Settings, parts: Omit<WorkerParts, "idle" | "start">) {
    const { running } = parts
    const { handlers } = settings
    const unitOfWork = yield* UnitOfWork
    const retry = yield* makeRetry
    // While it is false, a span records nothing, and still changes the context of each job twice.
    const isTraced = yield* References.TracerEnabled
    const endJob = yield* makeEndJob(settings, { ...parts, start: (job) => start(job) })
    const runs = new Map(handlers.map((handler) => [
      handler.kind,
      handler.prepare((name, settle) =>
        settle === undefined
          ? ({ job }) => endJob(job)
          : Folding.makeWith(unitOfWork, {
            name,
            membersMax: settledMax,
            keyOf: ({ job }) => job.group,
            run: (settlements) =>
              Effect.as(unitOfWork.atomically(settle(settlements)), settlements.map(() => undefined))
          }), retry)
    ]))

    const start: StartJob = (job, failure) => {
      const run = runs.get(KindName.baseOf(job.kind))
      if (run === undefined) return Effect.die(new Error(`The worker has no handler for jobs of the kind ${job.kind}`))
      return running.start(job, (settling) =>
        run(job, failure).pipe(
          Effect.tap(() => settling),
          Effect.flatMap(retried),
          Effect.catchCause((cause) =>
            Effect.logError("Settling a job failed; the job runs again, or fails if it has no attempts left", cause)
          ),
          (body) => isTraced ? inSpan(job, body) : body,
          Effect.annotateLogs({ job: job.job, kind: job.kind, attempt: job.attempt })
        ))
    }
    return start
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const inSpan = ({ attempt, kind }: ClaimedJob, body: Effect.Effect<void>) =>
  Effect.withSpan(body, "Worker.job", { root: true, attributes: { kind, attempt }, captureStackTrace: false })

/** Retries while the storage is unavailable. No other worker gets the job meanwhile unless its lease expires. */
const settleRetries = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")]).pipe(
  Schedule.jittered
)

/** Creates the schedule after the first failure only. */
const retried = (settle: Effect.Effect<void, StorageError>) =>
  Effect.catchIf(
    settle,
    ({ isRetryable }) => isRetryable,
    () => Effect.retry(settle, { schedule: settleRetries, while: ({ isRetryable }) => isRetryable })
  )

/** Creates a function that delays jobs that failed. A lost lease is ignored, since another worker has the job. */
const makeRetry = Effect.gen(function*() {
  const scheduler = yield* Scheduler
  const unitOfWork = yield* UnitOfWork
  const retryAll = Effect.fnUntraced(function*(jobs: ReadonlyArray<Retry>) {
    const { state } = Decision.all(yield* scheduler.load({ jobs }), jobs, Lanes.retry)
    yield* scheduler.save(state)
    return jobs.map(() => undefined)
  }, unitOfWork.atomically)
  const folded = Folding.makeWith(unitOfWork, {
    name: "Worker.retry",
    membersMax: settledMax,
    keyOf: ({ group }: Retry) => group,
    run: retryAll
  })
  return (job: ClaimedJob, delay: Duration.Duration) => folded({ ...job, delay })
})

interface Retry extends ClaimedJob {
  readonly delay: Duration.Duration
}
