/** The OpenAPI document at `/openapi.json`, and its page at `/docs`. */
import { Api, ClientApi } from "@kinora/http-api/Api"
import { Effect, Layer } from "effect"
import { Digest } from "effect/crypto"
import { Base64 } from "effect/encoding"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { currentRequest } from "../middleware/currentRequest.ts"
import * as FixedResponse from "../middleware/fixedResponse.ts"
import { openApiDocument } from "../wire/openApiDocument.ts"
import { isPageRequest, redirection } from "./console/pages.ts"

/** `/openapi.json`. */
export const layerDocument = ({ operatorRoutes }: Pick<HttpServerOptions, "operatorRoutes">) =>
  HttpRouter.add(
    "GET",
    "/openapi.json",
    Effect.sync(() => operatorRoutes ? openApiDocument(Api) : openApiDocument(ClientApi))
  ).pipe(Layer.provide(FixedResponse.layer()))

/** `/docs`, and `/`, which leads there, and browsers to the console. The page is self-contained: it loads nothing from other servers. */
export const layerPage = (
  { baseUrl = "", console, operatorRoutes }: Pick<HttpServerOptions, "baseUrl" | "console" | "operatorRoutes">
) =>
  Layer.mergeAll(
    Layer.provide(
      operatorRoutes ? HttpApiScalar.layer(Api, page) : HttpApiScalar.layer(ClientApi, page),
      FixedResponse.layer(policyOf)
    ),
    HttpRouter.add(
      "GET",
      "/",
      Effect.map(
        currentRequest,
        (state) => console && isPageRequest(state) ? redirection : HttpServerResponse.redirect(`${baseUrl}/docs`)
      )
    )
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const page = { path: "/docs", scalar: { withDefaultFonts: false, defaultOpenAllTags: true } } as const

/** Only the scripts of the page itself run, and they can only call this server. */
const policyOf = (html: string) =>
  Effect.gen(function*() {
    const { digest } = yield* Digest.Digest
    const hashes = yield* Effect.forEach(html.matchAll(/<script>([^]*?)<\/script>/g), ([, script = ""]) =>
      Effect.map(
        digest(Digest.sha256, new TextEncoder().encode(script)),
        (hash) => `'sha256-${Base64.encode(hash)}'`
      ))
    return {
      "content-security-policy": [
        "default-src 'none'",
        `script-src ${hashes.join(" ")}`,
        // The page adds its styles from its script.
        "style-src 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'"
      ].join("; "),
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff"
    }
  })
