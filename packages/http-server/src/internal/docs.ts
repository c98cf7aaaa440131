/** The interface described: for programs at `/openapi.json`, for people at `/docs` (D49). */
import { Api } from "@kinora/http-api/Api"
import { document } from "@kinora/http-api/OpenApiDocument"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"

/** `/openapi.json`. */
export const layerDocument = HttpRouter.add("GET", "/openapi.json", HttpServerResponse.jsonUnsafe(document))

/** `/docs`. The page has all that it needs in itself and fetches nothing. */
export const layerPage = HttpApiScalar.layer(Api, {
  path: "/docs",
  scalar: { withDefaultFonts: false, defaultOpenAllTags: true }
})
