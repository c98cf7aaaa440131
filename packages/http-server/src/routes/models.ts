/** `GET /v1/models` and `GET /v1/models/{id}`. */
import { Catalog } from "@kinora/catalog"
import { Api } from "@kinora/http-api/Api"
import type * as Wire from "@kinora/http-api/Model"
import { Effect, Option } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { modelNotFound } from "../middleware/refusals.ts"
import { toWire } from "../wire/model.ts"

/** The handlers. The catalog does not change while the service runs, so each response is made once. */
export const layer = HttpApiBuilder.group(
  Api,
  "models",
  Effect.fnUntraced(function*(handlers) {
    const { find, list } = yield* Catalog.Catalog
    const models: typeof Wire.ModelList.Encoded = {
      data: list.flatMap((model) => model.status === "withdrawn" ? [] : [toWire({ ...model, status: model.status })])
    }
    const response = HttpServerResponse.jsonUnsafe(models)
    const responses = new Map(models.data?.map((model) => [model.id, HttpServerResponse.jsonUnsafe(model)]))
    return handlers.handleAll({
      list: () => Effect.succeed(response),
      get: ({ params: { id } }) => {
        // By an alias as well, although the list does not contain it.
        const found = Option.flatMapNullishOr(find(id), (model) => responses.get(model.id))
        return Option.isNone(found) ? modelNotFound(id) : Effect.succeed(found.value)
      }
    })
  })
)
