/** The operation that a generator runs for a job: submitted once, then polled until it ends. */
import type { Generator, Operation } from "@kinora/generator/Generator"
import { GeneratorError, UnknownOutcome } from "@kinora/generator/GeneratorError"
import type { ClaimedJob } from "@kinora/scheduler/Job"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { DateTime, Effect, Option, Schema } from "effect"
import type { Generation } from "../../Generation.ts"
import { makeOpenImages } from "./generatorImages.ts"
import { requestOf, type Source } from "./generatorRequest.ts"
import { retryStorage, retryTransient, type RunError } from "./retries.ts"

/** Options for `makeRunOperation`. */
export interface OperationOptions {
  /** Maximum number of retries of a call that fails for a transient reason. */
  readonly retries: number
}

/** A job to run. */
export interface OperationRequest {
  readonly job: ClaimedJob
  readonly source: Source
  readonly generation: Generation
  /** `true` to submit again although the checkpoint has an operation, which the generator has lost. */
  readonly isLost: boolean
}

/** Makes a function that runs the operation of a job to its end and returns it. */
export const makeRunOperation = Effect.fnUntraced(function*({ retries }: OperationOptions) {
  const submit = yield* makeSubmit(retries)
  const persist = retryTransient(retries)

  const awaitEnd = Effect.fnUntraced(function*(generator: Generator["Service"], operation: Operation) {
    while (true) {
      const status = yield* persist(generator.poll(operation))
      if (status._tag === "Succeeded") return
      if (status._tag === "Failed") return yield* new GeneratorError({ reason: status.error })
      yield* Effect.sleep(status.after)
    }
  })

  return Effect.fnUntraced(function*(request: OperationRequest) {
    const { job, source: { generator } } = request
    const operation = yield* submit(request)
    // A worker that lost its lease or shuts down does not cancel: another worker continues with the operation.
    yield* Effect.onInterrupt(
      awaitEnd(generator, operation),
      () => Effect.when(Effect.ignore(generator.cancel(operation)), hasTimedOut(job))
    )
    return operation
  })
})

/** Returns `true` if the generator has lost the operation of a job. */
export const isLost = (error: RunError): boolean => error._tag === "GeneratorError" && error.reason._tag === "Lost"

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Checkpoint of a job. Without an operation, a worker was about to submit. */
const Progress = Schema.Struct({ operation: Schema.optionalKey(Schema.Json) })
type Progress = typeof Progress.Type

/** Makes a function that submits a job, or returns the operation that an earlier attempt submitted. */
const makeSubmit = Effect.fnUntraced(function*(retries: number) {
  const scheduler = yield* Scheduler
  const openImages = yield* makeOpenImages
  const persist = retryTransient(retries)

  const checkpoint = ({ epoch, job }: ClaimedJob, progress: Progress) =>
    retryStorage(scheduler.checkpoint({ job, epoch, checkpoint: Schema.encodeSync(Progress)(progress) }))

  return Effect.fnUntraced(function*({ generation, isLost, job, source: { generator, model } }: OperationRequest) {
    const progress = Option.flatMap(job.checkpoint, Schema.decodeUnknownOption(Progress))
    if (!isLost && Option.isSome(progress) && progress.value.operation !== undefined) return progress.value.operation
    const images = yield* persist(openImages(generation.images))
    if (generator.resubmit === "unsafe") {
      // The last attempt ended between its request and the answer. The generator may have charged for it.
      if (Option.isSome(progress)) return yield* new GeneratorError({ reason: new UnknownOutcome() })
      yield* checkpoint(job, {})
    }
    const operation = yield* persist(generator.submit(requestOf(generation, model, images)))
    // Stored before the first poll, so that another worker polls this operation instead of submitting again.
    yield* checkpoint(job, { operation })
    return operation
  })
})

/**
 * Returns `true` if the job has reached its time limit, after which no worker takes it
 * over. Timers can fire early, so the last second counts as reached.
 */
const hasTimedOut = ({ startedAt, timeLimit }: ClaimedJob) =>
  Effect.map(
    DateTime.now,
    (now) =>
      Option.exists(timeLimit, (limit) =>
        DateTime.isLessThan(DateTime.addDuration(startedAt, limit), DateTime.add(now, { seconds: 1 })))
  )
