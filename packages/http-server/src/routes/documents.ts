/** The OpenAPI document at `/openapi.json`, and its page at `/docs`. */
import { Api } from "@kinora/http-api/Api"
import { document } from "@kinora/http-api/OpenApiDocument"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"

/** `/openapi.json`. */
export const layerDocument = HttpRouter.add("GET", "/openapi.json", HttpServerResponse.jsonUnsafe(document))

/** `/docs`. The page is self-contained: it loads nothing from other servers. */
export const layerPage = HttpApiScalar.layer(Api, {
  path: "/docs",
  scalar: { withDefaultFonts: false, defaultOpenAllTags: true }
})
