/**
 * Periodic work: jobs that waited too long, jobs of withdrawn models, slots of jobs whose models
 * no worker runs, results whose download window has ended, files that failed and lost attempts have
 * left, images that no job needs, and jobs and usage that are old.
 *
 * Any number of hosts may sweep at the same time. Each sweep handles at most `limit`
 * rows and returns how many it handled; call it again while it returns `limit`. A row
 * that cannot be handled is logged and does not block the others.
 */
import { Catalog } from "@kinora/catalog/Catalog"
import * as Model from "@kinora/catalog/Model"
import { Sweep } from "@kinora/persistence"
import type { StorageError } from "@kinora/persistence/StorageError"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import type { BlobStore } from "@kinora/storage/BlobStore"
import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { GenerationId } from "./Generation.ts"
import type { Requirements as GenerationsRequirements } from "./Generations.ts"
import { type AttemptFiles, type Expired, GenerationStore } from "./GenerationStore.ts"
import { ImageStore } from "./ImageStore.ts"
import { imageKey } from "./internal/images/imageIngest.ts"
import { parseSubject } from "./internal/jobAddress.ts"
import * as Failures from "./internal/run/failures.ts"
import * as ResultFiles from "./internal/run/resultFiles.ts"
import { makeDeleteFiles } from "./internal/sweep/deleteFiles.ts"
import { makeFailWaitingJobs } from "./internal/sweep/failWaitingJobs.ts"
import { makeSwapSlots } from "./internal/sweep/swapSlots.ts"

/** Sweeps. Each returns how many rows it handled, at most `limit`. */
export class GenerationSweep extends Context.Service<GenerationSweep, {
  /** Fails and refunds jobs that have not started within the queue limit. */
  readonly dropStale: (limit: number) => Effect.Effect<number, StorageError>

  /** Fails and refunds jobs that have not started and whose model is withdrawn. */
  readonly dropWithdrawn: (limit: number) => Effect.Effect<number, StorageError>

  /**
   * Gives the slots of jobs that have not started and whose model no worker runs to pending jobs of
   * the same account and plan group whose model a worker runs. The jobs without their slots are
   * pending again, before the others.
   */
  readonly swapSlots: (limit: number) => Effect.Effect<number, StorageError>

  /** Deletes the files of results whose download window has ended. The generations stay. */
  readonly expireResults: (limit: number) => Effect.Effect<number, StorageError>

  /**
   * Deletes the files of attempts of ended jobs that are not part of their results: those that the worker has not deleted,
   * because it crashed or its deletion failed. Handles a job `GenerationStore.attemptFilesKept` after its end.
   */
  readonly deleteAttemptFiles: (limit: number) => Effect.Effect<number, StorageError>

  /** Deletes expired uploads, and input images that no job needs. */
  readonly dropImages: (limit: number) => Effect.Effect<number, StorageError>

  /**
   * Deletes jobs that ended longer than `age` ago and whose files are deleted. Their prompts are
   * gone with them; their charges and their usage stay. Dies if `age` is below `jobsKeptMin`.
   */
  readonly deleteJobs: (age: Duration.Input, limit: number) => Effect.Effect<number, StorageError>

  /** Deletes the usage of UTC days that ended longer than `age` ago. */
  readonly deleteUsage: (age: Duration.Input, limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/generations/GenerationSweep") {}

/** Options for `GenerationSweep.layerWith`. */
export interface GenerationSweepOptions {
  /** How long a job may wait before it starts. Default 24 hours. */
  readonly queueLimit?: Duration.Input | undefined
  /** Delay before the deletion of a file is retried. Default 15 minutes. */
  readonly retryAfter?: Duration.Input | undefined
}

/**
 * How long an ended job is kept at least, so that the idempotency keys that refer to it have
 * expired: a key is kept for 24 hours after the job was created.
 */
export const jobsKeptMin: Duration.Duration = Duration.days(2)

/** Options for `GenerationSweep.layerSweep`. */
export interface SweepOptions {
  /** How long jobs are kept after their end, at least `jobsKeptMin`; `Duration.infinity`: forever. Default 90 days. */
  readonly jobsKept?: Duration.Input | undefined
  /** How long the usage of a day is kept; `Duration.infinity`: forever. Default 731 days. */
  readonly usageKept?: Duration.Input | undefined
  /** Mean interval of the sweeps that delete jobs and usage. Default 1 hour. */
  readonly retentionInterval?: Duration.Input | undefined
  /** Mean interval of the sweeps that fail jobs. Default 1 minute. */
  readonly jobsInterval?: Duration.Input | undefined
  /** Mean interval of the sweep that swaps slots. Default 3 seconds. */
  readonly slotsInterval?: Duration.Input | undefined
  /** Mean interval of the sweeps that delete files. Default 5 minutes. */
  readonly filesInterval?: Duration.Input | undefined
  /** Maximum number of rows that a sweep handles in one call. Default 500. */
  readonly limit?: number | undefined
}

/** Services that the sweeps require. */
export type Requirements = GenerationsRequirements | BlobStore

/** Makes the sweeps. */
export const make = Effect.fnUntraced(function*(options: GenerationSweepOptions) {
  const { queueLimit = "24 hours", retryAfter = "15 minutes" } = options
  const waiting = yield* makeWaitingSweeps(queueLimit)
  const files = yield* makeFileSweeps(retryAfter)
  return GenerationSweep.of({ ...waiting, ...files, ...(yield* makeDeletions), swapSlots: yield* makeSwapSlots })
})

/** The sweeps with these options. */
export const layerWith = (options: GenerationSweepOptions): Layer.Layer<GenerationSweep, never, Requirements> =>
  Layer.effect(GenerationSweep, make(options))

/** The sweeps with default options. */
export const layer: Layer.Layer<GenerationSweep, never, Requirements> = layerWith({})

/** Runs all sweeps in the background. Logs failures and continues. Any number of hosts may run it. */
export const layerSweep = (
  {
    filesInterval = "5 minutes",
    jobsInterval = "1 minute",
    jobsKept = "90 days",
    limit = 500,
    retentionInterval = "1 hour",
    slotsInterval = "3 seconds",
    usageKept = "731 days"
  }: SweepOptions = {}
): Layer.Layer<never, never, GenerationSweep> =>
  Layer.mergeAll(
    sweepLayer("jobs that waited too long", "dropStale", jobsInterval, limit),
    sweepLayer("jobs of withdrawn models", "dropWithdrawn", jobsInterval, limit),
    sweepLayer("slots of jobs that no worker runs", "swapSlots", slotsInterval, limit),
    sweepLayer("expired results", "expireResults", filesInterval, limit),
    sweepLayer("files of attempts", "deleteAttemptFiles", filesInterval, limit),
    sweepLayer("unused images", "dropImages", filesInterval, limit),
    Layer.effectDiscard(checkJobsKept(jobsKept)),
    Sweep.layerAged({
      name: "old jobs",
      interval: retentionInterval,
      limit,
      age: jobsKept,
      run: (age, limit) => GenerationSweep.use(({ deleteJobs }) => deleteJobs(age, limit))
    }),
    Sweep.layerAged({
      name: "old usage",
      interval: retentionInterval,
      limit,
      age: usageKept,
      run: (age, limit) => GenerationSweep.use(({ deleteUsage }) => deleteUsage(age, limit))
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Runs a sweep in the background. `name` is that of the log. */
const sweepLayer = (
  name: string,
  sweep: "dropStale" | "dropWithdrawn" | "swapSlots" | "expireResults" | "deleteAttemptFiles" | "dropImages",
  interval: Duration.Input,
  limit: number
) => Sweep.layer({ name, interval, limit, run: (limit) => GenerationSweep.use((sweeps) => sweeps[sweep](limit)) })

/** Makes the sweeps that fail waiting jobs. */
const makeWaitingSweeps = Effect.fnUntraced(function*(queueLimit: Duration.Input) {
  const catalog = yield* Catalog
  const scheduler = yield* Scheduler
  const store = yield* GenerationStore
  const failWaitingJobs = yield* makeFailWaitingJobs

  const dropStale = Effect.fn("GenerationSweep.dropStale")(function*(limit: number) {
    return yield* failWaitingJobs(limit, Failures.queueTimeout, (limit, except) =>
      Effect.map(
        scheduler.waiting(queueLimit, limit, except.map(GenerationId.toUuid)),
        (jobs) => jobs.map((job) => ({ id: GenerationId.fromUuid(job.job), subject: parseSubject(job) }))
      ))
  })

  const dropWithdrawn = Effect.fn("GenerationSweep.dropWithdrawn")(function*(limit: number) {
    if (catalog.withdrawn.length === 0) return 0
    const models = catalog.withdrawn.flatMap(Model.ids)
    return yield* failWaitingJobs(limit, Failures.modelWithdrawn, (limit, except) =>
      Effect.map(
        store.waiting(models, limit, except),
        (waiting) => waiting.map((subject) => ({ id: subject.id, subject: Option.some(subject) }))
      ))
  })

  return { dropStale, dropWithdrawn }
})

/** Makes the sweeps that delete files. */
const makeFileSweeps = Effect.fnUntraced(function*(retryAfter: Duration.Input) {
  const images = yield* ImageStore
  const store = yield* GenerationStore
  const deleteFiles = yield* makeDeleteFiles

  const expireResults = Effect.fn("GenerationSweep.expireResults")(function*(limit: number) {
    const now = yield* DateTime.now
    const expired = yield* store.expired(now, limit)
    // Deleted before the rows change: after a crash in between, the next sweep finds the rows again. Clients cannot
    // download the files meanwhile, since the window has ended.
    const deleted = yield* deleteFiles(expired, keysOf)
    const others = expired.filter((one) => !deleted.includes(one))
    if (others.length > 0) yield* store.putOff(others.map(({ id }) => id), DateTime.addDuration(now, retryAfter))
    if (deleted.length > 0) yield* store.clearOutput(deleted.map(({ id }) => id))
    return deleted.length
  })

  const deleteAttemptFiles = Effect.fn("GenerationSweep.deleteAttemptFiles")(function*(limit: number) {
    const now = yield* DateTime.now
    const left = yield* store.attemptFiles(now, limit)
    const deleted = yield* deleteFiles(left, keysOfAttempts)
    const others = left.filter((one) => !deleted.includes(one))
    if (others.length > 0) {
      yield* store.setAttemptFilesDue(others.map(({ id }) => id), DateTime.addDuration(now, retryAfter))
    }
    if (deleted.length > 0) yield* store.attemptFilesDeleted(deleted.map(({ id }) => id), now)
    return deleted.length
  })

  const dropImages = Effect.fn("GenerationSweep.dropImages")(function*(limit: number) {
    const now = yield* DateTime.now
    const dropped = yield* images.drop(now, DateTime.addDuration(now, retryAfter), limit)
    const deleted = yield* deleteFiles(dropped.map((id) => ({ id })), ({ id }) => [imageKey(id)])
    if (deleted.length > 0) yield* images.delete(deleted.map(({ id }) => id))
    return deleted.length
  })

  return { expireResults, deleteAttemptFiles, dropImages }
})

/** Makes the sweeps that delete old rows. Each set is one statement, so a crash deletes a whole set or nothing. */
const makeDeletions = Effect.gen(function*() {
  const store = yield* GenerationStore

  const deleteJobs = Effect.fn("GenerationSweep.deleteJobs")(function*(age: Duration.Input, limit: number) {
    yield* checkJobsKept(age)
    return yield* store.deleteEnded(yield* ago(age), limit)
  })

  const deleteUsage = Effect.fn("GenerationSweep.deleteUsage")(function*(age: Duration.Input, limit: number) {
    return yield* store.deleteUsage(DateTime.formatIsoDateUtc(yield* ago(age)), limit)
  })

  return { deleteJobs, deleteUsage }
})

const checkJobsKept = (age: Duration.Input) =>
  Duration.isGreaterThanOrEqualTo(Duration.fromInputUnsafe(age), jobsKeptMin)
    ? Effect.void
    : Effect.die(new Error(`Jobs must be kept for at least ${Duration.format(jobsKeptMin)} after their end`))

const ago = (age: Duration.Input) => Effect.map(DateTime.now, DateTime.subtractDuration(age))

/**
 * Returns the files that the attempt of an output may have stored, or `undefined` if the output cannot be decoded. Some may
 * not be part of the output, for example a preview that was stored before its thumbnail failed.
 */
const keysOf = ({ output }: Expired): ReadonlyArray<string> | undefined => {
  if (output === undefined) return undefined
  return Array.from(new Set([...ResultFiles.keysIn(output), ...ResultFiles.keysBeside(output.content.key)]))
}

/** Returns the files of attempts that are not part of the output, or `undefined` if the output cannot be decoded. */
const keysOfAttempts = ({ epoch, id, output }: AttemptFiles): ReadonlyArray<string> | undefined => {
  if (output === undefined) return undefined
  const recorded = output === null ? [] : ResultFiles.keysIn(output)
  return ResultFiles.keysUpTo({ job: GenerationId.toUuid(id), epoch }).filter((key) => !recorded.includes(key))
}
