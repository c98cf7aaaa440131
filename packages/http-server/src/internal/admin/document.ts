/** The interface for operators described for programs, at `/admin/v1/openapi.json` (D50). Needs no token. */
import { document } from "@kinora/http-api/AdminOpenApiDocument"
import { HttpRouter, HttpServerResponse } from "effect/http"

/** Where it is. */
export const path = "/admin/v1/openapi.json"

/** The route. */
export const layer = HttpRouter.add("GET", path, HttpServerResponse.jsonUnsafe(document))
