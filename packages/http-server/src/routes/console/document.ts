/** The OpenAPI document of the console. It requires no session. */
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import * as FixedResponse from "../../middleware/fixedResponse.ts"
import { openApiDocument } from "../../wire/openApiDocument.ts"

/** The path of the document. */
export const path = "/console/v1/openapi.json"

/** The route. */
export const layer = HttpRouter.add("GET", path, Effect.sync(() => openApiDocument(ConsoleApi))).pipe(
  Layer.provide(FixedResponse.layer)
)
