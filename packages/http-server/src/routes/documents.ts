/** The OpenAPI document at `/openapi.json`, and its page at `/docs`. */
import { Api, ClientApi } from "@kinora/http-api/Api"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { openApiDocument } from "../wire/openApiDocument.ts"

type Options = Pick<HttpServerOptions, "operatorRoutes">

/** `/openapi.json`. */
export const layerDocument = ({ operatorRoutes }: Options) =>
  HttpRouter.add(
    "GET",
    "/openapi.json",
    Effect.sync(() => operatorRoutes ? openApiDocument(Api) : openApiDocument(ClientApi))
  )

/** `/docs`. The page is self-contained: it loads nothing from other servers. */
export const layerPage = ({ operatorRoutes }: Options) =>
  operatorRoutes ? HttpApiScalar.layer(Api, page) : HttpApiScalar.layer(ClientApi, page)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const page = { path: "/docs", scalar: { withDefaultFonts: false, defaultOpenAllTags: true } } as const
