/** `GET /v1/models` and `GET /v1/models/{id}`. */
import { Catalog } from "@kinora/catalog"
import { ModelNotFound } from "@kinora/generations/GenerationError"
import { Api } from "@kinora/http-api/Api"
import type * as Wire from "@kinora/http-api/Model"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { toWire } from "./modelView.ts"
import * as Refusals from "./refusals.ts"

/** The handlers. The catalog does not change while the service runs, so its answers are made once. */
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
    return handlers
      .handle("list", () => Effect.succeed(response))
      .handle("get", ({ params: { id } }) => {
        const found = responses.get(id)
        return found === undefined ? Refusals.ModelNotFound(new ModelNotFound({ model: id })) : Effect.succeed(found)
      })
  })
)
