/** The pages of the console. See docs/reference/console-api.md#pages. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../../HttpServerOptions.ts"
import { accepts } from "../../middleware/acceptEncoding.ts"
import { currentRequest, type RequestState } from "../../middleware/currentRequest.ts"
import { failedAuthentications } from "../../middleware/rateLimits.ts"
import { noSuchRoute } from "../../wire/errorResponse.ts"
import * as Assets from "./assets.ts"
import * as CanonicalOrigin from "./canonicalOrigin.ts"

/** The route of all pages and files. The router also adds `/console`. */
export const route = "/console/*"

/** Paths of the console API, also those that do not exist. */
export const apiRoute = "/console/v1/*"

/** Returns whether a browser asks for a page, which a program does not. */
export const isPageRequest = ({ request }: RequestState): boolean =>
  /(?:^|,)\s*text\/html\b/i.test(request.headers["accept"] ?? "")

/** The response that leads a browser to the console. */
export const redirection = HttpServerResponse.redirect("/console/", { headers: { "vary": "Accept" } })

/** The routes. */
export const layer = (options: HttpServerOptions) =>
  Layer.unwrap(Effect.map(
    options.consoleDirectory === undefined ? Effect.undefined : Assets.read(options.consoleDirectory),
    (assets) => {
      const headers = headersOf(options)
      return HttpRouter.add(
        "GET",
        route,
        Effect.map(currentRequest, (state) => {
          const path = state.request.url.split("?", 1)[0] ?? ""
          if (path === "/console") return redirection
          if (/^\/console\/v1(?:\/|$)/.test(path)) return unknownPath(state, options)
          const moved = CanonicalOrigin.redirectionOf(state, options)
          if (moved !== undefined) return moved
          if (assets === undefined) return notBuilt
          return respond(assets, path.slice("/console/".length), state, headers) ?? unknownPath(state, options)
        })
      )
    }
  ))

/** `/` on a server without `/docs`: leads browsers to the console. */
export const layerRoot = (options: HttpServerOptions) =>
  HttpRouter.add(
    "GET",
    "/",
    Effect.map(currentRequest, (state) => isPageRequest(state) ? redirection : unknownPath(state, options))
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Response = HttpServerResponse.HttpServerResponse

/** 404, which shows the limit of the address like that of any other path that does not exist. */
const unknownPath = (state: RequestState, options: HttpServerOptions): Response => {
  state.limit = failedAuthentications(state, options)
  return noSuchRoute
}

/** Files below this path have a digest of their content in their names. */
const immutablePath = "assets/"

const respond = (
  assets: Assets.Assets,
  path: string,
  { request: { headers } }: RequestState,
  security: Readonly<Record<string, string>>
): Response | undefined => {
  // The page reads the path in the browser, so it is the same for all of them.
  const name = assets.has(path) ? path : Assets.extensionOf(path) === "" ? Assets.indexPath : undefined
  const asset = name === undefined ? undefined : assets.get(name)
  if (name === undefined || asset === undefined) return undefined
  const { encoding, variant } = select(asset, headers["accept-encoding"])
  const validity = {
    "etag": variant.etag,
    "cache-control": name.startsWith(immutablePath) ? "public, max-age=31536000, immutable" : "no-cache",
    "vary": "Accept-Encoding"
  }
  if (isCurrent(headers["if-none-match"], variant.etag)) {
    return HttpServerResponse.empty({ status: 304, headers: validity })
  }
  return HttpServerResponse.uint8Array(variant.bytes, {
    contentType: asset.contentType,
    headers: { ...security, ...validity, ...(encoding === undefined ? {} : { "content-encoding": encoding }) }
  })
}

const select = ({ br, gzip, plain }: Assets.Asset, acceptEncoding: string | undefined) => {
  if (br !== undefined && accepts(acceptEncoding, "br")) return { encoding: "br", variant: br }
  if (gzip !== undefined && accepts(acceptEncoding, "gzip")) return { encoding: "gzip", variant: gzip }
  return { encoding: undefined, variant: plain }
}

const isCurrent = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined && ifNoneMatch.split(",").some((tag) => tag.trim() === etag || tag.trim() === `W/${etag}`)

const notBuilt = HttpServerResponse.text(
  "The console is not built. Run `npm run build -w @kinora/console` and restart the server. The API is not affected.\n",
  { status: 503, headers: { "cache-control": "no-store", "x-content-type-options": "nosniff" } }
)

/** Only scripts and styles of this server run, and the page calls only this server. Results are at `baseUrl`, if it is set. */
const headersOf = ({ baseUrl }: HttpServerOptions): Readonly<Record<string, string>> => {
  const media = ["'self'", "blob:", ...(baseUrl === undefined ? [] : [new URL(baseUrl).origin])].join(" ")
  return {
    "content-security-policy": [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "font-src 'self'",
      `img-src ${media}`,
      `media-src ${media}`,
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'"
    ].join("; "),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff"
  }
}
