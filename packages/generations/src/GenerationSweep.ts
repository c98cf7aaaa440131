/**
 * Ends what nobody else ends: jobs that waited too long or whose model is gone,
 * results whose download window is over, images that no job needs any more. Any
 * number of hosts may sweep at the same time. Each sweep takes a bounded set and says
 * how many it ended, so that its caller goes on until nothing is left. What cannot
 * be ended is logged, and does not stop the others.
 */
import { Catalog } from "@kinora/catalog/Catalog"
import type { StorageError } from "@kinora/persistence/StorageError"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import type { BlobStore } from "@kinora/storage/BlobStore"
import { Context, DateTime, type Duration, Effect, Layer, Option } from "effect"
import { GenerationId } from "./Generation.ts"
import type { Requirements as GenerationsRequirements } from "./Generations.ts"
import { type Expired, GenerationStore } from "./GenerationStore.ts"
import { ImageStore } from "./ImageStore.ts"
import { keyOf } from "./internal/images/imageIngest.ts"
import { parseSubject } from "./internal/jobAddress.ts"
import * as Failures from "./internal/run/failures.ts"
import { makeDeleteEach } from "./internal/sweep/deleteFiles.ts"
import { makeDropEach } from "./internal/sweep/failWaitingJobs.ts"

/** Sweeps; each answers how many it ended, up to `limit`. */
export class GenerationSweep extends Context.Service<GenerationSweep, {
  /** Fails and refunds jobs that have not started within the queue limit (D7). */
  readonly dropStale: (limit: number) => Effect.Effect<number, StorageError>

  /** Fails and refunds jobs that have not started and whose model is withdrawn (D7). */
  readonly dropWithdrawn: (limit: number) => Effect.Effect<number, StorageError>

  /** Deletes the files of results whose download window is over (D35). The generations stay. */
  readonly expireResults: (limit: number) => Effect.Effect<number, StorageError>

  /** Deletes uploads whose time is over (D19), and input images that no job needs any more. */
  readonly dropImages: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/generations/GenerationSweep") {}

/** What sweeps are told. */
export interface GenerationSweepOptions {
  /** How long a job may wait before it starts (D7). Default 24 hours. */
  readonly queueLimit?: Duration.Input | undefined
  /** When to try again to delete a file that could not be deleted. Default 15 minutes. */
  readonly retryAfter?: Duration.Input | undefined
}

/** Sweeps with these options. */
export const layerWith = (
  { queueLimit = "24 hours", retryAfter = "15 minutes" }: GenerationSweepOptions
): Layer.Layer<GenerationSweep, never, GenerationsRequirements | BlobStore> =>
  Layer.effect(
    GenerationSweep,
    Effect.gen(function*() {
      const catalog = yield* Catalog
      const images = yield* ImageStore
      const scheduler = yield* Scheduler
      const store = yield* GenerationStore
      const deleteEach = yield* makeDeleteEach
      const dropEach = yield* makeDropEach

      const dropStale = Effect.fn("GenerationSweep.dropStale")(function*(limit: number) {
        const before = DateTime.subtractDuration(yield* DateTime.now, queueLimit)
        return yield* dropEach(limit, Failures.queueTimeout, (limit, except) =>
          Effect.map(
            scheduler.waitingSince(before, limit, except.map(GenerationId.toUuid)),
            (jobs) => jobs.map((job) => ({ id: GenerationId.fromUuid(job.job), subject: parseSubject(job) }))
          ))
      })

      const dropWithdrawn = Effect.fn("GenerationSweep.dropWithdrawn")(function*(limit: number) {
        if (catalog.withdrawn.length === 0) return 0
        const models = catalog.withdrawn.map(({ id }) => id)
        return yield* dropEach(limit, Failures.modelWithdrawn, (limit, except) =>
          Effect.map(
            store.waiting(models, limit, except),
            (waiting) => waiting.map((subject) => ({ id: subject.id, subject: Option.some(subject) }))
          ))
      })

      // The window is over, so nobody is told of the files any more: a crash in between is swept again.
      const expireResults = Effect.fn("GenerationSweep.expireResults")(function*(limit: number) {
        const now = yield* DateTime.now
        const expired = yield* store.expired(now, limit)
        const deleted = yield* deleteEach(expired, keysOf)
        const others = expired.filter((one) => !deleted.includes(one))
        if (others.length > 0) yield* store.putOff(others.map(({ id }) => id), DateTime.addDuration(now, retryAfter))
        if (deleted.length > 0) yield* store.clearOutput(deleted.map(({ id }) => id))
        return deleted.length
      })

      const dropImages = Effect.fn("GenerationSweep.dropImages")(function*(limit: number) {
        const now = yield* DateTime.now
        const dropped = yield* images.drop(now, DateTime.addDuration(now, retryAfter), limit)
        const deleted = yield* deleteEach(dropped.map((id) => ({ id })), ({ id }) => [keyOf(id)])
        if (deleted.length > 0) yield* images.delete(deleted.map(({ id }) => id))
        return deleted.length
      })

      return GenerationSweep.of({ dropStale, dropWithdrawn, expireResults, dropImages })
    })
  )

/** `layerWith` with its defaults. */
export const layer: Layer.Layer<GenerationSweep, never, GenerationsRequirements | BlobStore> = layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Nobody knows the files of an output that cannot be read. */
const keysOf = ({ output }: Expired): ReadonlyArray<string> | undefined =>
  output === undefined
    ? undefined
    : [output.content, output.preview, output.thumb, output.poster].flatMap((file) => file?.key ?? [])
