/** `GET /v1/models` and `GET /v1/models/{id}`. */
import { Catalog } from "@kinora/catalog"
import { Api } from "@kinora/http-api/Api"
import type * as Wire from "@kinora/http-api/Model"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { modelNotFound } from "../middleware/refusals.ts"
import { toWire } from "../wire/model.ts"

/** The handlers. The catalog does not change while the service runs, so each response is made once. */
export const layer = HttpApiBuilder.group(
  Api,
  "models",
  Effect.fnUntraced(function*(handlers) {
    const { list } = yield* Catalog.Catalog
    const models: typeof Wire.ModelList.Encoded = {
      data: list.flatMap((model) => model.status === "withdrawn" ? [] : [toWire({ ...model, status: model.status })])
    }
    const response = HttpServerResponse.jsonUnsafe(models)
    const responses = new Map(models.data?.map((model) => [model.id, HttpServerResponse.jsonUnsafe(model)]))
    return handlers.handleAll({
      list: () => Effect.succeed(response),
      get: ({ params: { id } }) => {
        const found = responses.get(id)
        return found === undefined ? modelNotFound(id) : Effect.succeed(found)
      }
    })
  })
)
