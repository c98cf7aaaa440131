/** `GET /v1/models` and `GET /v1/models/{id}`. */
import { Catalog } from "@kinora/catalog"
import { ModelStatuses } from "@kinora/generations"
import { Api } from "@kinora/http-api/Api"
import type * as Wire from "@kinora/http-api/Model"
import { Effect, Option } from "effect"
import { HttpServerResponse } from "effect/http"
import { modelNotFound } from "../middleware/refusals.ts"
import { toWire } from "../wire/model.ts"
import * as EndpointGroup from "./endpointGroup.ts"

/** The handlers. The catalog does not change while the service runs, so responses are made when a status changes. */
export const layer = EndpointGroup.make(Api, "models", function*(handlers) {
  const { find, list } = yield* Catalog.Catalog
  const { current } = yield* ModelStatuses.ModelStatuses
  let latest: { readonly statuses: string; readonly responses: Responses } | undefined

  const responses = Effect.map(current, (statusOf) => {
    const listed = list.flatMap((model) => {
      const { status } = statusOf(model)
      return status === "withdrawn" ? [] : [{ ...model, status }]
    })
    const statuses = listed.map(({ status }) => status).join(" ")
    if (latest?.statuses !== statuses) latest = { statuses, responses: responsesOf(listed.map(toWire)) }
    return latest.responses
  })

  return handlers.handleAll({
    list: () => Effect.map(responses, ({ list }) => list),
    get: ({ params: { id } }) =>
      Effect.flatMap(responses, ({ byId }) => {
        // By an alias as well, although the list does not contain it.
        const found = Option.flatMapNullishOr(find(id), (model) => byId.get(model.id))
        return Option.isNone(found) ? modelNotFound(id) : Effect.succeed(found.value)
      })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Responses = ReturnType<typeof responsesOf>

const responsesOf = (models: ReadonlyArray<typeof Wire.Model.Encoded>) => ({
  list: HttpServerResponse.jsonUnsafe({ data: models } satisfies typeof Wire.ModelList.Encoded),
  byId: new Map(models.map((model) => [model.id, HttpServerResponse.jsonUnsafe(model)]))
})
