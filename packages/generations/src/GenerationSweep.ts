/**
 * Ends what nobody else ends: jobs that waited too long or whose model is gone, and
 * results whose download window is over. Any number of hosts may sweep at the same
 * time; each sweep takes a bounded set and says how many it found, so that its
 * caller goes on until nothing is left.
 */
import { Catalog } from "@kinora/catalog/Catalog"
import type { StorageError } from "@kinora/persistence/StorageError"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import type { BlobError } from "@kinora/storage/BlobError"
import { BlobStore } from "@kinora/storage/BlobStore"
import { Context, DateTime, type Duration, Effect, Layer } from "effect"
import type { Requirements as GenerationsRequirements } from "./Generations.ts"
import { type Expired, GenerationStore } from "./GenerationStore.ts"
import { makeEndAll } from "./internal/ending.ts"
import * as Failures from "./internal/failures.ts"
import { subjectOf } from "./internal/lane.ts"

/** Sweeps; each answers how many it dealt with. */
export class GenerationSweep extends Context.Service<GenerationSweep, {
  /** Fails and refunds jobs that have not started within the queue limit (D7). */
  readonly dropStale: (limit: number) => Effect.Effect<number, StorageError>

  /** Fails and refunds jobs that have not started and whose model is withdrawn (D7). */
  readonly dropWithdrawn: (limit: number) => Effect.Effect<number, StorageError>

  /** Deletes the files of results whose download window is over (D35). The generations stay. */
  readonly expireResults: (limit: number) => Effect.Effect<number, StorageError | BlobError>
}>()("@kinora/generations/GenerationSweep") {}

/** What sweeps are told. */
export interface GenerationSweepOptions {
  /** How long a job may wait before it starts (D7). Default 24 hours. */
  readonly queueLimit?: Duration.Input | undefined
}

/** Sweeps with these options. */
export const layerWith = (
  { queueLimit = "24 hours" }: GenerationSweepOptions
): Layer.Layer<GenerationSweep, never, GenerationsRequirements | BlobStore> =>
  Layer.effect(
    GenerationSweep,
    Effect.gen(function*() {
      const blobs = yield* BlobStore
      const catalog = yield* Catalog
      const scheduler = yield* Scheduler
      const store = yield* GenerationStore
      const endAll = yield* makeEndAll

      const dropStale = Effect.fn("GenerationSweep.dropStale")(function*(limit: number) {
        const before = DateTime.subtractDuration(yield* DateTime.now, queueLimit)
        const jobs = yield* scheduler.waitingSince(before, limit)
        if (jobs.length === 0) return 0
        yield* endAll(jobs.map((job) => ({ _tag: "Drop", subject: subjectOf(job), failure: Failures.queueTimeout })))
        return jobs.length
      })

      const dropWithdrawn = Effect.fn("GenerationSweep.dropWithdrawn")(function*(limit: number) {
        if (catalog.withdrawn.length === 0) return 0
        const waiting = yield* store.waiting(catalog.withdrawn.map(({ id }) => id), limit)
        if (waiting.length === 0) return 0
        yield* endAll(waiting.map((subject) => ({ _tag: "Drop", subject, failure: Failures.modelWithdrawn })))
        return waiting.length
      })

      const expireResults = Effect.fn("GenerationSweep.expireResults")(function*(limit: number) {
        const expired = yield* store.expired(yield* DateTime.now, limit)
        if (expired.length === 0) return 0
        // The window is over, so nobody is told of the files any more: a crash in between is swept again.
        yield* blobs.delete(expired.flatMap(keysOf))
        yield* store.clearOutput(expired.map(({ id }) => id))
        return expired.length
      })

      return GenerationSweep.of({ dropStale, dropWithdrawn, expireResults })
    })
  )

/** `layerWith` with its defaults. */
export const layer: Layer.Layer<GenerationSweep, never, GenerationsRequirements | BlobStore> = layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keysOf = ({ output }: Expired): ReadonlyArray<string> =>
  output === undefined
    ? []
    : [output.content, output.preview, output.thumb, output.poster].flatMap((file) => file?.key ?? [])
