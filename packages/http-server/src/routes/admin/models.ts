/** Models in the operator API. */
import { Catalog } from "@kinora/catalog/Catalog"
import * as Model from "@kinora/catalog/Model"
import { ModelPauses } from "@kinora/generations/ModelPauses"
import { ModelStatuses } from "@kinora/generations/ModelStatuses"
import { UpstreamReports } from "@kinora/generations/UpstreamReports"
import { AdminApi } from "@kinora/http-api/AdminApi"
import type { AdminModel } from "@kinora/http-api/AdminModel"
import { refuse } from "@kinora/http-api/ApiError"
import { DateTime, Effect, Option } from "effect"
import { changes, note } from "../../middleware/changes.ts"
import { answers, invalidParameter } from "../../middleware/refusals.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = EndpointGroup.make(AdminApi, "models", function*(handlers) {
  const catalog = yield* Catalog
  const pauses = yield* ModelPauses
  const { current } = yield* ModelStatuses
  const reports = yield* UpstreamReports

  const find = (id: string) =>
    Option.match(catalog.find(id), { onNone: () => refuse("not_found"), onSome: Effect.succeed })

  /** Reads the state of models. */
  const read = Effect.fnUntraced(function*(models: ReadonlyArray<Model.Model>) {
    const paused = yield* pauses.list
    const failing = yield* reports.list(yield* DateTime.now)
    const statusOf = yield* current
    return models.map((model): AdminModel => {
      const ids: ReadonlyArray<string> = Model.ids(model)
      const upstreams = [model.driver.name, ...model.driver.fallbacks.map(({ name }) => name)]
      const pause = paused.find((pause) => ids.includes(pause.model))
      // The statuses are up to 5 seconds old.
      const status = pause === undefined || model.status === "withdrawn" ? statusOf(model).status : "paused"
      return {
        id: model.id,
        kind: model.kind,
        status,
        paused_at: pause?.at ?? null,
        upstreams,
        reports: failing
          .filter(({ upstream }) => upstreams.includes(upstream))
          .map(({ retryAt, status, upstream, worker }) => ({ worker, upstream, status, retry_at: retryAt }))
      }
    })
  })

  const readOne = (model: Model.Model) => Effect.map(read([model]), ([state]) => state!)

  return handlers.handleAll({
    listModels: answers([], function*({ query: { cursor, limit = pageSizeDefault } }) {
      const models = [...catalog.list, ...catalog.withdrawn]
      const last = models.findIndex(({ id }) => id === cursor)
      if (cursor !== undefined && last < 0) return yield* invalidCursor
      const page = models.slice(last + 1, last + 1 + limit)
      return { data: yield* read(page), next_cursor: last + 1 + limit < models.length ? page.at(-1)!.id : null }
    }),

    pauseModel: changes([], function*({ params }) {
      const model = yield* find(params.id)
      const before = yield* readOne(model)
      if (before.paused_at === null) yield* pauses.pause({ model: model.id, at: yield* DateTime.now })
      yield* note({ subject: model.id, before: stateOf(before), after: { paused: true } })
      yield* Effect.logInfo("An operator paused a model", { model: model.id })
      return yield* readOne(model)
    }),

    resumeModel: changes([], function*({ params }) {
      const model = yield* find(params.id)
      const before = yield* readOne(model)
      yield* pauses.resume(Model.ids(model))
      yield* note({ subject: model.id, before: stateOf(before), after: { paused: false } })
      yield* Effect.logInfo("An operator resumed a model", { model: model.id })
      return yield* readOne(model)
    })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pageSizeDefault = 20

const invalidCursor = invalidParameter("cursor", "must be the next_cursor of an earlier page")

const stateOf = ({ paused_at }: AdminModel) => ({ paused: paused_at !== null })
