/** The OpenAPI document of the operator API. It requires no token. */
import { AdminApi } from "@kinora/http-api/AdminApi"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import * as FixedResponse from "../../middleware/fixedResponse.ts"
import { openApiDocument } from "../../wire/openApiDocument.ts"

/** The path of the document. */
export const path = "/admin/v1/openapi.json"

/** The route. */
export const layer = HttpRouter.add("GET", path, Effect.sync(() => openApiDocument(AdminApi))).pipe(
  Layer.provide(FixedResponse.layer)
)
