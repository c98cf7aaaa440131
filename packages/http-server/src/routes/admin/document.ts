/** The OpenAPI document of the operator API. It requires no token. */
import { document } from "@kinora/http-api/AdminOpenApiDocument"
import { HttpRouter, HttpServerResponse } from "effect/http"

/** The path of the document. */
export const path = "/admin/v1/openapi.json"

/** The route. */
export const layer = HttpRouter.add("GET", path, HttpServerResponse.jsonUnsafe(document))
