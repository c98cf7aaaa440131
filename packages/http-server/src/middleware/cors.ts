/**
 * Requests of scripts of other origins (CORS). Files can be read from every origin; the
 * rest of `/v1` from the origins in `corsOrigins`. Credentials such as cookies are never
 * allowed. Effect's `HttpMiddleware.cors` applies one policy to all paths and responds to
 * every OPTIONS request, also for unknown paths.
 */
import { Content } from "@kinora/http-api/Api"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import type { Route } from "./metrics.ts"

type Headers = Readonly<Record<string, string>>

/** The CORS rules of a listener. */
export interface Cors {
  /** Returns the headers to add to a response. Empty if scripts of the origin cannot read it. */
  readonly headersOf: (request: HttpServerRequest.HttpServerRequest, route: Route) => Headers
  /** Returns the response to a preflight that is allowed, or `undefined` for all other requests. */
  readonly preflight: (
    request: HttpServerRequest.HttpServerRequest,
    route: Route
  ) => HttpServerResponse.HttpServerResponse | undefined
}

/** Makes the rules. */
export const make = ({ corsOrigins }: Pick<HttpServerOptions, "corsOrigins">): Cors => {
  const origins = new Set(corsOrigins)
  const isOpen = origins.has("*")

  /** The headers that name the origin that may read the response. */
  const allowed = ({ headers: { origin }, url }: HttpServerRequest.HttpServerRequest, { path }: Route): Headers => {
    if (filePaths.has(path)) return anyOrigin
    if (origins.size === 0 || !url.startsWith("/v1/")) return none
    if (isOpen) return anyOrigin
    // Caches must not return a response for one origin to another, with or without the header.
    return origin !== undefined && origins.has(origin)
      ? { "access-control-allow-origin": origin, "vary": "Origin" }
      : { "vary": "Origin" }
  }

  return {
    headersOf: (request, route) => {
      const headers = allowed(request, route)
      return "access-control-allow-origin" in headers
        ? { ...headers, "access-control-expose-headers": exposed }
        : headers
    },
    preflight: (request, route) => {
      const { headers: asked, method } = request
      if (method !== "OPTIONS" || asked["origin"] === undefined) return undefined
      if (asked["access-control-request-method"] === undefined || route.methods.length === 0) return undefined
      if (!("access-control-allow-origin" in allowed(request, route))) return undefined
      const wanted = asked["access-control-request-headers"]
      return HttpServerResponse.empty({
        status: 204,
        headers: {
          "access-control-allow-methods": route.methods.join(", "),
          // `*` would not cover `Authorization`. Unknown headers are ignored, so all of them are allowed.
          ...(wanted === undefined ? {} : { "access-control-allow-headers": wanted }),
          "access-control-max-age": String(maxAgeSeconds)
        }
      })
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const none: Headers = {}
const anyOrigin: Headers = { "access-control-allow-origin": "*" }

const filePaths: ReadonlySet<string> = new Set(Object.values(Content.endpoints).map(({ path }) => path))

/** The longest time for which Chromium keeps the result of a preflight. */
const maxAgeSeconds = 7200

/** The headers that scripts can read besides those that every browser exposes, such as `Content-Length`. */
const exposed = [
  "Accept-Ranges",
  "Content-Disposition",
  "Content-Length",
  "Content-Range",
  "ETag",
  "Idempotent-Replayed",
  "Location",
  "Retry-After",
  "retry-after-ms",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
  "x-should-retry"
].join(", ")
