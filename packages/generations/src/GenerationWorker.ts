/** Runs generations: what the scheduler's worker is told about their jobs. Part of every host that works. */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { JobHandler } from "@kinora/scheduler"
import type { ClaimedJob } from "@kinora/scheduler/Job"
import { BlobStore } from "@kinora/storage/BlobStore"
import { Webhooks } from "@kinora/webhooks/Webhooks"
import { type Cause, DateTime, type Duration, Effect } from "effect"
import { Changes } from "./Changes.ts"
import { type Failure, GenerationId, type Output } from "./Generation.ts"
import * as GenerationEvent from "./GenerationEvent.ts"
import { GenerationStore } from "./GenerationStore.ts"
import { type EndCommand, makeEndAll } from "./internal/end/endAll.ts"
import { generationKind, subjectOf } from "./internal/jobAddress.ts"
import * as Metrics from "./internal/metrics.ts"
import * as Failures from "./internal/run/failures.ts"
import { makeProduce, type ProductionOptions, untilStored } from "./internal/run/produceOutput.ts"
import * as Files from "./internal/run/resultFiles.ts"

/** What running generations is told. */
export interface GenerationWorkerOptions extends ProductionOptions {
  /** How long a result can be downloaded (D29). Default 24 hours. */
  readonly resultTtl?: Duration.Input | undefined
}

/** The handler of generation jobs, for `Worker.layer`. */
export const makeHandler = Effect.fnUntraced(function*(options: GenerationWorkerOptions) {
  const { resultTtl = "24 hours" } = options
  const { afterCommit } = yield* UnitOfWork
  const blobs = yield* BlobStore
  const changes = yield* Changes
  const store = yield* GenerationStore
  const webhooks = yield* Webhooks
  const produce = yield* makeProduce(options)
  const endAll = yield* makeEndAll

  /** Deletes what nobody recorded. A leftover costs space only. */
  const discard = (keys: ReadonlyArray<string>) =>
    blobs.delete(keys).pipe(
      Effect.catch((error) => Effect.logWarning("Files of a lost attempt were not deleted", error))
    )

  /** Deletes what jobs stored that somebody else ended first. They may have ended them themselves, and not have heard of it. */
  const discardLate = Effect.fnUntraced(
    function*(jobs: ReadonlyArray<ClaimedJob>) {
      const generations = yield* store.find(jobs.map(({ job }) => GenerationId.fromUuid(job)))
      const recorded = new Set(generations.map(({ output }) => output?.content.key))
      const late = jobs.filter((job) => !recorded.has(Files.keyOf(job, "content")))
      yield* discard(late.flatMap(Files.keysOf))
    },
    Effect.catch((error) => Effect.logWarning("Files of a lost attempt were not deleted", error))
  )

  return JobHandler.make({
    kind: generationKind,
    claimed: Effect.fn("GenerationWorker.claimed")(function*(jobs: ReadonlyArray<ClaimedJob>) {
      const at = yield* DateTime.now
      const started = yield* store.start(jobs.map(({ job }) => ({ id: GenerationId.fromUuid(job), at })))
      // A job that is taken over was told of when it started first (D7).
      yield* webhooks.publish(GenerationEvent.ofChanged(started))
      yield* afterCommit(changes.publish(started.map(({ id }) => id)))
      const first = new Set(started.map(({ id }) => GenerationId.toUuid(id)))
      yield* afterCommit(Metrics.started(jobs.filter(({ job }) => first.has(job)), at))
    }),
    run: Effect.fn("GenerationWorker.run")(function*(job: ClaimedJob<{ readonly id: GenerationId }>) {
      const [generation] = yield* untilStored(store.find([job.payload.id]))
      if (generation === undefined) return yield* Effect.die(new Error(`No generation ${job.payload.id} for its job`))
      const output = yield* produce(job, generation)
      yield* discard(Files.keysUpTo({ job: job.job, epoch: job.epoch - 1 }))
      return completed(output)
    }),
    failed: Effect.fn("GenerationWorker.failed")(function*(job: ClaimedJob, cause: Cause.Cause<Failures.Problem>) {
      const failure = Failures.fromCause(cause)
      if (failure.reason === "internal") yield* Effect.logError("A generation failed", job.job, cause)
      yield* discard(Files.keysUpTo(job))
      return failed(failure)
    }),
    settle: Effect.fn("GenerationWorker.settle")(function*(
      settlements: ReadonlyArray<JobHandler.Settlement<Outcome>>
    ) {
      const ended = yield* endAll(settlements.map(({ job, outcome }) => commandOf(job, outcome, resultTtl)))
      const late = settlements.filter(({ outcome }, index) => ended[index] === "Gone" && outcome._tag === "Completed")
      if (late.length > 0) yield* afterCommit(Effect.forkDetach(discardLate(late.map(({ job }) => job))))
    })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What came of a job. */
type Outcome =
  | { readonly _tag: "Completed"; readonly output: Output }
  | { readonly _tag: "Failed"; readonly failure: Failure }

const completed = (output: Output): Outcome => ({ _tag: "Completed", output })

const failed = (failure: Failure): Outcome => ({ _tag: "Failed", failure })

const commandOf = (job: ClaimedJob, outcome: Outcome, resultTtl: Duration.Input): EndCommand => {
  const subject = subjectOf(job)
  return outcome._tag === "Completed"
    ? { _tag: "Complete", subject, lease: job, output: outcome.output, resultTtl }
    : { _tag: "Fail", subject, lease: job, failure: outcome.failure }
}
