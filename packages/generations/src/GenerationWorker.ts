/** Runs generation jobs: the handler of their job kind for a scheduler's `Worker`. */
import { Catalog } from "@kinora/catalog/Catalog"
import * as Model from "@kinora/catalog/Model"
import { Generators } from "@kinora/generator/Generators"
import * as Pipelining from "@kinora/persistence/Pipelining"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { JobHandler } from "@kinora/scheduler"
import type { ClaimedJob } from "@kinora/scheduler/Job"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { BlobStore } from "@kinora/storage/BlobStore"
import { Webhooks } from "@kinora/webhooks/Webhooks"
import { type Cause, Clock, DateTime, Duration, Effect, Option, Result } from "effect"
import { Changes } from "./Changes.ts"
import { type Failure, GenerationId, type Output } from "./Generation.ts"
import * as GenerationEvent from "./GenerationEvent.ts"
import { attemptFilesKept, GenerationStore } from "./GenerationStore.ts"
import { type EndCommand, makeEndAll } from "./internal/end/endAll.ts"
import { generationKind, modelOf, subjectOf } from "./internal/jobAddress.ts"
import * as Metrics from "./internal/metrics.ts"
import * as Failures from "./internal/run/failures.ts"
import { cancel } from "./internal/run/operation.ts"
import { makePausedPools } from "./internal/run/pausedPools.ts"
import { makeProduceOutput, type RunOptions } from "./internal/run/produceOutput.ts"
import * as Progress from "./internal/run/progress.ts"
import * as ResultFiles from "./internal/run/resultFiles.ts"
import { isStorageFailure, makeResultStorage, type ResultStorageOptions } from "./internal/run/resultStorage.ts"
import { retryStorage, type RunError } from "./internal/run/retries.ts"
import { startReporter } from "./internal/run/upstreamReporter.ts"
import { makeSourceOf, makeUpstreams } from "./internal/run/upstreams.ts"

/** Options for `GenerationWorker.makeHandler`. */
export interface GenerationWorkerOptions extends RunOptions, ResultStorageOptions {
  /**
   * Models whose jobs the worker claims. Default: all that it can run, which are those of
   * its catalog whose driver it has. Models that it cannot run are ignored. Aliases count
   * as their models.
   */
  readonly models?: ReadonlyArray<string> | undefined
  /** How long a result can be downloaded. Default 24 hours. */
  readonly resultTtl?: Duration.Input | undefined
  /**
   * The `id` of the scheduler's `Worker`. The upstreams that fail are reported under it, and
   * the status of their models follows. Default: they are not reported.
   */
  readonly worker?: string | undefined
  /** How long a report of an upstream that fails holds if the worker is lost. Default 30 seconds. */
  readonly reportTtl?: Duration.Input | undefined
  /**
   * Returns the URL that the upstream of a job can call until a time, such as the signed
   * URL of `Callbacks.pathOf`. Default: upstreams get no URL, and are polled.
   */
  readonly callbackUrlOf?: ((id: GenerationId, expiresAt: DateTime.Utc) => string) | undefined
}

/** The models of the catalog whose driver this process has, withdrawn ones included, in the order of the catalog. */
export const runnableModels = Effect.gen(function*() {
  const catalog = yield* Catalog
  const generators = yield* Generators
  return [...catalog.list, ...catalog.withdrawn].filter(({ driver }) => Option.isSome(generators.get(driver.name)))
})

/** Makes the handler of generation jobs, for `Worker.layer`. The scope is that of the worker. */
export const makeHandler = Effect.fnUntraced(
  function*({ models, reportTtl = "30 seconds", resultTtl = "24 hours", worker, ...options }: GenerationWorkerOptions) {
    const offered = yield* offeredPools(models)
    const upstreams = yield* makeUpstreams
    const sourceOf = yield* makeSourceOf(upstreams)
    if (worker !== undefined) {
      yield* startReporter(upstreams, { worker, ttl: Duration.fromInputUnsafe(reportTtl) })
    }
    const store = yield* GenerationStore
    const storage = yield* makeResultStorage(options)
    const produceOutput = yield* Effect.provideService(
      makeProduceOutput({ ...options, resultTtl }, upstreams),
      BlobStore,
      storage.blobs
    )
    const { discard } = yield* makeDiscard

    /** Cancels the operation that an earlier worker of the job has left. */
    const cancelLeft = (job: ClaimedJob) =>
      Option.match(sourceOf(modelOf(job.kind)), {
        onNone: () => Effect.void,
        onSome: ({ routes: [{ upstream: primary }] }) => {
          const sent = Progress.ofJob(job, primary, upstreams)
          const upstream = sent._tag === "Sent" ? upstreams.find(sent.upstream) : undefined
          return sent._tag === "Sent" && upstream !== undefined ? cancel({ sent, upstream }) : Effect.void
        }
      })

    return JobHandler.make({
      kind: generationKind,
      pools: Array.from(offered),
      limits: upstreams.limitsOf(
        Array.from(offered).flatMap((pool) => Option.toArray(sourceOf(pool)).map((source) => ({ pool, source })))
      ),
      isOpen: storage.isWorking,
      paused: yield* makePausedPools(offered),
      claimed: yield* makeClaimed,
      left: makeLeft(store),
      run: Effect.fn("GenerationWorker.run")(function*(job: ClaimedJob<{ readonly id: GenerationId }>) {
        const began = yield* Clock.monotonicTimeNanos
        const expected = yield* upstreams.expect(sourceOf(modelOf(job.kind)))
        const [generation] = yield* retryStorage(store.find([job.payload.id]))
        if (generation === undefined) {
          return yield* Effect.die(new Error(`The generation ${job.payload.id} of a job does not exist`))
        }
        const source = offered.has(generation.model) ? sourceOf(generation.model) : Option.none()
        // The job has no pool. Jobs with a pool are claimed only for models that the worker offers.
        if (Option.isNone(source)) return returned(generation.model)
        const progress = Progress.ofJob(job, source.value.routes[0].upstream, upstreams)
        const callbackUrl = callbackUrlOf(job, options)
        const running = { job, source: source.value, generation, callbackUrl, progress, began, ...expected }
        const produced = yield* Effect.result(produceOutput(running))
        if (Result.isSuccess(produced)) {
          yield* storage.recovered
          yield* discard(ResultFiles.keysUpTo({ job: job.job, epoch: job.epoch - 1 }))
          return completed(produced.success)
        }
        return isReturned(produced.failure) ? returned(generation.model) : yield* Effect.fail(produced.failure)
      }, Effect.scoped),
      failed: Effect.fn("GenerationWorker.failed")(function*(job: ClaimedJob, cause: Cause.Cause<Failures.RunFailure>) {
        const failure = Failures.fromCause(cause)
        yield* cancelLeft(job)
        if (failure.reason === "internal") yield* Effect.logError("A generation failed", job.job, cause)
        yield* discard(ResultFiles.keysUpTo(job))
        return failed(failure)
      }),
      settle: yield* makeSettle(resultTtl)
    })
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The pools that a worker claims: the ids and aliases of the models that it runs. */
const offeredPools = Effect.fnUntraced(function*(models: ReadonlyArray<string> | undefined) {
  const runnable = (yield* runnableModels).map(Model.ids)
  // Jobs of an earlier catalog wait under the id that their model had then, which is an alias now.
  return new Set(runnable.filter((ids) => models === undefined || ids.some((id) => models.includes(id))).flat())
})

/** Result of a job's run. */
type Outcome =
  | { readonly _tag: "Completed"; readonly output: Output }
  | { readonly _tag: "Failed"; readonly failure: Failure }
  /**
   * The worker does not run the model, or its upstream fails and has not got the job, or the result cannot be stored. The
   * job waits in the queue.
   */
  | { readonly _tag: "Returned"; readonly model: string }

type Ended = Exclude<Outcome, { readonly _tag: "Returned" }>

const completed = (output: Output): Outcome => ({ _tag: "Completed", output })

const failed = (failure: Failure): Outcome => ({ _tag: "Failed", failure })

/** Returns `true` if a failure is not one of the job, which therefore waits in the queue, at most until its time limit. */
const isReturned = (failure: RunError): boolean => failure._tag === "UpstreamUnavailable" || isStorageFailure(failure)

const returned = (model: string): Outcome => ({ _tag: "Returned", model })

/** Returns the URL that the upstream of a job can call until the time limit of the job. */
const callbackUrlOf = (
  { payload, startedAt, timeLimit }: ClaimedJob<{ readonly id: GenerationId }>,
  { callbackUrlOf: urlOf }: Pick<GenerationWorkerOptions, "callbackUrlOf">
): string | undefined =>
  urlOf === undefined || Option.isNone(timeLimit)
    ? undefined
    : urlOf(payload.id, DateTime.addDuration(startedAt, timeLimit.value))

/** Marks claimed jobs as started, in the unit of work that claims them. */
const makeClaimed = Effect.gen(function*() {
  const { afterCommit } = yield* UnitOfWork
  const changes = yield* Changes
  const store = yield* GenerationStore
  const webhooks = yield* Webhooks

  return Effect.fn("GenerationWorker.claimed")(function*(jobs: ReadonlyArray<ClaimedJob>, worker: string) {
    const at = yield* DateTime.now
    // Jobs that another worker started before are not returned, so they publish no second event.
    const started = yield* store.start(
      jobs.map(({ attempt, epoch, job }) => ({ id: GenerationId.fromUuid(job), at, attempt, epoch, worker }))
    )
    yield* Pipelining.atCommit(webhooks.publish(GenerationEvent.ofChanged(started)))
    yield* afterCommit(changes.publish(started.map(({ id }) => id)))
    const first = new Set(started.map(({ id }) => GenerationId.toUuid(id)))
    yield* afterCommit(Metrics.started(jobs.filter(({ job }) => first.has(job))))
  })
})

/** Makes a function that records attempts that have ended without an outcome. */
const makeLeft = (store: GenerationStore["Service"]) =>
  Effect.fn("GenerationWorker.left")(
    function*(
      attempts: ReadonlyArray<{ readonly job: string; readonly epoch: number | undefined }>,
      reason: "lost" | "returned"
    ) {
      const keys = attempts.map(({ epoch, job }) => ({ id: GenerationId.fromUuid(job), epoch }))
      yield* store.endAttempts(keys, yield* DateTime.now, reason)
    }
  )

/** Ends jobs with the results of their runs, and releases those that wait for another worker or for their upstream. */
const makeSettle = Effect.fnUntraced(function*(resultTtl: Duration.Input) {
  const { afterCommit } = yield* UnitOfWork
  const { discardLate } = yield* makeDiscard
  const endAll = yield* makeEndAll
  const scheduler = yield* Scheduler
  const store = yield* GenerationStore
  const left = makeLeft(store)

  return Effect.fn("GenerationWorker.settle")(function*(
    settlements: ReadonlyArray<JobHandler.Settlement<Outcome>>
  ) {
    const ends = settlements.flatMap(({ job, outcome }) =>
      outcome._tag === "Returned" ? [] : [{ job, outcome, command: commandOf(job, outcome, resultTtl) }]
    )
    const ended = ends.length === 0 ? [] : yield* endAll(ends.map(({ command }) => command))
    const late = ends.filter(({ outcome }, index) => Result.isFailure(ended[index]!) && outcome._tag === "Completed")
    // Ending jobs locks lanes, which precede jobs in the lock order, so jobs are released afterwards.
    const releases = settlements.flatMap(({ job: { epoch, job }, outcome }) =>
      outcome._tag === "Returned" ? [{ job, epoch, pool: outcome.model }] : []
    )
    if (releases.length > 0) {
      yield* scheduler.release(releases)
      yield* left(releases, "returned")
    }
    if (late.length === 0) return
    // The sweep may have handled the jobs before this worker stored its files.
    yield* store.setAttemptFilesDue(
      late.map(({ command }) => command.subject.id),
      DateTime.addDuration(yield* DateTime.now, attemptFilesKept)
    )
    yield* afterCommit(Effect.forkDetach(discardLate(late.map(({ job }) => job))))
  })
})

/** Deletes files of attempts whose result is not recorded. The sweep deletes those that cannot be deleted now. */
const makeDiscard = Effect.gen(function*() {
  const blobs = yield* BlobStore
  const store = yield* GenerationStore
  const logFailure = (error: unknown) =>
    Effect.logWarning("Files of a lost attempt could not be deleted; the sweep retries", error)

  const discard = (keys: ReadonlyArray<string>) => Effect.catch(blobs.delete(keys), logFailure)

  /**
   * Deletes the files of jobs that had already ended when their result arrived. Keeps
   * files that are recorded: the same worker may have ended the job without receiving the response.
   */
  const discardLate = Effect.fnUntraced(
    function*(jobs: ReadonlyArray<ClaimedJob>) {
      const generations = yield* store.find(jobs.map(({ job }) => GenerationId.fromUuid(job)))
      const recorded = new Set(generations.map(({ output }) => output?.content.key))
      const late = jobs.filter((job) => !recorded.has(ResultFiles.keyOf(job, "content")))
      yield* discard(late.flatMap(ResultFiles.keysOf))
    },
    Effect.catch(logFailure)
  )

  return { discard, discardLate }
})

const commandOf = (job: ClaimedJob, outcome: Ended, resultTtl: Duration.Input): EndCommand => {
  const subject = subjectOf(job)
  return outcome._tag === "Completed"
    ? { _tag: "Complete", subject, lease: job, output: outcome.output, resultTtl }
    : { _tag: "Fail", subject, lease: job, failure: outcome.failure }
}
