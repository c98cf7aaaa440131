/**
 * The status of models while upstreams fail: the one of the catalog, or a worse one that
 * follows from the reports of the workers.
 */
import type * as Model from "@kinora/catalog/Model"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { Context, DateTime, type Duration, Effect, Layer } from "effect"
import { type ModelStatus, type Observed, statusOf } from "./internal/modelStatus.ts"
import { UpstreamReports } from "./UpstreamReports.ts"

export type { ModelStatus } from "./internal/modelStatus.ts"

/** Finds the status of models. */
export class ModelStatuses extends Context.Service<ModelStatuses, {
  /**
   * Returns a function from models to their status now. A model is `paused` while every
   * worker that offers it reports all upstreams of the model paused, and `degraded` while
   * some worker that offers it reports some of them. A worse status in the catalog applies
   * instead, as does any if the reports cannot be read, which is logged.
   */
  readonly current: Effect.Effect<(model: Model.Model) => ModelStatus>
}>()("@kinora/generations/ModelStatuses") {}

/** Options for `layerWith`. */
export interface ModelStatusesOptions {
  /** How long the reports are used before they are read again. Default 5 seconds. */
  readonly cacheTtl?: Duration.Input | undefined
}

/** Reads the reports at most once per `cacheTtl`, when a status is asked for. */
export const layerWith = (
  { cacheTtl = "5 seconds" }: ModelStatusesOptions
): Layer.Layer<ModelStatuses, never, Scheduler | UpstreamReports> =>
  Layer.effect(
    ModelStatuses,
    Effect.gen(function*() {
      const reports = yield* UpstreamReports
      const scheduler = yield* Scheduler

      const read: Effect.Effect<Observed> = Effect.gen(function*() {
        const found = yield* reports.list(yield* DateTime.now)
        return found.length === 0 ? nothing : { reports: found, offers: yield* scheduler.offers }
      }).pipe(
        Effect.catch((error) => Effect.as(Effect.logWarning("Reading the reports of workers failed", error), nothing))
      )
      const observed = yield* Effect.cachedWithTTL(read, cacheTtl)

      return ModelStatuses.of({
        current: Effect.gen(function*() {
          const latest = yield* observed
          const now = yield* DateTime.now
          return (model) => statusOf(model, latest, now)
        })
      })
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const nothing: Observed = { reports: [], offers: [] }
