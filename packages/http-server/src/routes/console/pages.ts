/** The pages of the console. See docs/reference/console-api.md#pages. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../../HttpServerOptions.ts"
import { currentRequest, type RequestState } from "../../middleware/currentRequest.ts"
import { failedAuthentications } from "../../middleware/rateLimits.ts"
import { noSuchRoute } from "../../wire/errorResponse.ts"
import * as Assets from "../assets.ts"
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
        Effect.flatMap(currentRequest, (state) => {
          const path = state.request.url.split("?", 1)[0] ?? ""
          if (path === "/console") return Effect.succeed(redirection)
          const unknown = Effect.sync(() => unknownPath(state, options))
          if (/^\/console\/v1(?:\/|$)/.test(path)) return unknown
          const moved = CanonicalOrigin.redirectionOf(state, options)
          if (moved !== undefined) return Effect.succeed(moved)
          if (assets === undefined) return Effect.succeed(notBuilt)
          return Assets.respond(assets, fileOf(assets, path.slice("/console/".length)), state, headers) ?? unknown
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

/** 404, which shows the limit of the address like that of any other path that does not exist. */
export const unknownPath = (state: RequestState, options: HttpServerOptions): HttpServerResponse.HttpServerResponse => {
  state.limit = failedAuthentications(state, options)
  return noSuchRoute
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The page reads the path in the browser, so it is the same for all of them. */
const fileOf = (assets: Assets.Assets, path: string): string =>
  !assets.has(path) && Assets.extensionOf(path) === "" ? Assets.indexPath : path

const notBuilt = Assets.notBuilt("The console", "The API is not affected.")

/** Only scripts and styles of this server run, and the page calls only this server. Results are at `baseUrl`, if it is set. */
const headersOf = ({ baseUrl }: HttpServerOptions): Readonly<Record<string, string>> => {
  const media = ["'self'", "blob:", ...(baseUrl === undefined ? [] : [new URL(baseUrl).origin])].join(" ")
  return Assets.securityHeaders([
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
  ])
}
