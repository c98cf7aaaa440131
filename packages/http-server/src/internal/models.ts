/** `GET /v1/models`. */
import { Catalog } from "@kinora/catalog"
import { Api } from "@kinora/http-api/Api"
import type * as Wire from "@kinora/http-api/Model"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { toWire } from "./modelView.ts"

/** The handlers. The catalog does not change while the service runs, so its list is one response. */
export const layer = HttpApiBuilder.group(
  Api,
  "models",
  Effect.fnUntraced(function*(handlers) {
    const { list } = yield* Catalog.Catalog
    const models: typeof Wire.ModelList.Encoded = {
      data: list.flatMap((model) => model.status === "withdrawn" ? [] : [toWire({ ...model, status: model.status })])
    }
    const response = HttpServerResponse.jsonUnsafe(models)
    return handlers.handle("list", () => Effect.succeed(response))
  })
)
