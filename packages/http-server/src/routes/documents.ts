/** The OpenAPI document at `/openapi.json`, and its page at `/docs`. */
import { Api } from "@kinora/http-api/Api"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import { openApiDocument } from "../wire/openApiDocument.ts"

/** `/openapi.json`. */
export const layerDocument = HttpRouter.add("GET", "/openapi.json", Effect.sync(() => openApiDocument(Api)))

/** `/docs`. The page is self-contained: it loads nothing from other servers. */
export const layerPage = HttpApiScalar.layer(Api, {
  path: "/docs",
  scalar: { withDefaultFonts: false, defaultOpenAllTags: true }
})
