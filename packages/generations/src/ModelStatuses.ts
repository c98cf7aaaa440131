/**
 * The status of models: the one of the catalog, or a worse one that follows from the pauses of
 * operators and from the reports of the workers about upstreams that fail.
 */
import type * as Model from "@kinora/catalog/Model"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { Context, DateTime, type Duration, Effect, Layer } from "effect"
import { type ModelStatus, type Observed, statusOf } from "./internal/modelStatus.ts"
import { ModelPauses } from "./ModelPauses.ts"
import { UpstreamReports } from "./UpstreamReports.ts"

export type { ModelStatus } from "./internal/modelStatus.ts"

/** Finds the status of models. */
export class ModelStatuses extends Context.Service<ModelStatuses, {
  /**
   * Returns a function from models to their current status. A model is `paused` while an operator
   * has paused it, or while every worker that offers it reports all upstreams of the model as
   * paused. It is `degraded` while a worker that offers it reports one of them. If the status in the
   * catalog is worse, or the pauses and reports cannot be read (which is logged), the status in
   * the catalog applies.
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
): Layer.Layer<ModelStatuses, never, ModelPauses | Scheduler | UpstreamReports> =>
  Layer.effect(
    ModelStatuses,
    Effect.gen(function*() {
      const pauses = yield* ModelPauses
      const reports = yield* UpstreamReports
      const scheduler = yield* Scheduler

      const read: Effect.Effect<Observed> = Effect.gen(function*() {
        const found = yield* reports.list(yield* DateTime.now)
        const paused = (yield* pauses.list).map(({ model }) => model)
        return { paused, reports: found, offers: found.length === 0 ? [] : yield* scheduler.offers }
      }).pipe(
        Effect.catch((error) => Effect.as(Effect.logWarning("Reading the status of models failed", error), nothing))
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

const nothing: Observed = { paused: [], reports: [], offers: [] }
