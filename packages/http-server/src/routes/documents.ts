/** The OpenAPI document at `/openapi.json`, and the API reference at `/docs`. */
import { Api, ClientApi } from "@kinora/http-api/Api"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { currentRequest } from "../middleware/currentRequest.ts"
import * as FixedResponse from "../middleware/fixedResponse.ts"
import { openApiDocument } from "../wire/openApiDocument.ts"
import * as AdminDocument from "./admin/document.ts"
import * as Assets from "./assets.ts"
import * as ConsoleDocument from "./console/document.ts"
import { isPageRequest, redirection, unknownPath } from "./console/pages.ts"

/** `/openapi.json`. */
export const layerDocument = ({ operatorRoutes }: Pick<HttpServerOptions, "operatorRoutes">) =>
  HttpRouter.add(
    "GET",
    "/openapi.json",
    Effect.sync(() => operatorRoutes ? openApiDocument(Api) : openApiDocument(ClientApi))
  ).pipe(Layer.provide(FixedResponse.layer))

/** The route of the page and its files. The router also adds `/docs`. */
export const route = "/docs/*"

/** `/docs`, its files, and the list of documents that it shows: those of the listener for clients. */
export const layerPage = (options: HttpServerOptions) =>
  Layer.merge(
    layerReference(options, [
      clientDocument,
      ...(options.operatorRoutes && options.adminToken !== undefined ? [operatorDocument] : []),
      ...(options.console ? [consoleDocument] : [])
    ]),
    HttpRouter.add(
      "GET",
      "/",
      Effect.map(
        currentRequest,
        (state) =>
          options.console && isPageRequest(state)
            ? redirection
            : HttpServerResponse.redirect(`${options.baseUrl ?? ""}/docs`)
      )
    )
  )

/** The same on a listener for operators alone, which has no API for clients. */
export const layerOperatorPage = (options: HttpServerOptions) =>
  layerReference(options, [operatorDocument, ...(options.console ? [consoleDocument] : [])])

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** An OpenAPI document in the list that the page reads. */
interface ListedDocument {
  readonly title: string
  /** Identifies the document in links to the page. */
  readonly slug: string
  readonly url: string
  /** Name of the security scheme that examples use. */
  readonly security: string
}

const clientDocument: ListedDocument = {
  title: "Kinora API",
  slug: "v1",
  url: "/openapi.json",
  security: "bearer"
}

const operatorDocument: ListedDocument = {
  title: "Operator API",
  slug: "operators",
  url: AdminDocument.path,
  security: "bearer"
}

const consoleDocument: ListedDocument = {
  title: "Console API",
  slug: "console",
  url: ConsoleDocument.path,
  security: "session"
}

const layerReference = (options: HttpServerOptions, documents: ReadonlyArray<ListedDocument>) =>
  Layer.unwrap(Effect.map(
    options.docsDirectory === undefined ? Effect.undefined : Assets.open(options.docsDirectory),
    (assets) => {
      const list = HttpServerResponse.jsonUnsafe(documents, {
        headers: { "cache-control": "no-cache", "x-content-type-options": "nosniff" }
      })
      return HttpRouter.add(
        "GET",
        route,
        Effect.flatMap(currentRequest, (state) => {
          const path = fileOf(state.request.url)
          if (path === "documents.json") return Effect.succeed(list)
          if (assets === undefined) return Effect.succeed(notBuilt)
          return Assets.respond(assets, path, state, headers) ?? Effect.sync(() => unknownPath(state, options))
        })
      )
    }
  ))

/** The file of a path. The page is at `/docs` alone. */
const fileOf = (url: string): string => {
  const path = url.split("?", 1)[0] ?? ""
  return path === "/docs" ? Assets.indexPath : path.slice("/docs/".length)
}

const notBuilt = Assets.notBuilt("The API reference", "The OpenAPI document is at /openapi.json.")

/**
 * Only scripts of this server run, and the page calls only this server. Scalar adds style elements and sets style
 * attributes from its scripts, which needs `'unsafe-inline'`. It cannot load anything with them, since images and fonts
 * are of this server.
 */
const headers = Assets.securityHeaders([
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
])
