/** The cookie of a session, and the pages that can change something with it. See docs/reference/console-api.md#cookie. */
import { DateTime, Redacted } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import type { RequestState } from "./currentRequest.ts"

type Options = Pick<HttpServerOptions, "baseUrl">

/** Returns the token in the cookie of a request. */
export const tokenOf = (state: RequestState, options: Options): Redacted.Redacted | undefined => {
  // Almost no request of a program has a cookie.
  if (state.request.headers["cookie"] === undefined) return undefined
  const value = state.request.cookies[nameOf(state, options)]
  return value === undefined ? undefined : Redacted.make(value, { label: "SessionToken" })
}

/** Returns the `Set-Cookie` of a new session. */
export const set = (
  state: RequestState,
  options: Options,
  token: Redacted.Redacted,
  expiresAt: DateTime.Utc
): string =>
  `${nameOf(state, options)}=${Redacted.value(token)}; Expires=${httpDate(expiresAt)}; ${attributes(state, options)}`

/** Returns the `Set-Cookie` that removes the cookie. */
export const remove = (state: RequestState, options: Options): string =>
  `${nameOf(state, options)}=; Max-Age=0; ${attributes(state, options)}`

/** Returns the value of the cookie of a sign-in that is in progress at an identity provider. */
export const pendingOf = (state: RequestState, options: Options): string | undefined =>
  state.request.headers["cookie"] === undefined
    ? undefined
    : state.request.cookies[pendingNameOf(state, options)]

/**
 * Returns the `Set-Cookie` of a sign-in that is in progress. `Lax`, because the browser comes back from the page of the
 * provider.
 */
export const setPending = (state: RequestState, options: Options, value: string, seconds: number): string =>
  `${pendingNameOf(state, options)}=${value}; Max-Age=${seconds}; ${attributes(state, options, "Lax")}`

/** Returns the `Set-Cookie` that removes the cookie of a sign-in that is in progress. */
export const removePending = (state: RequestState, options: Options): string =>
  `${pendingNameOf(state, options)}=; Max-Age=0; ${attributes(state, options, "Lax")}`

/** Returns the origin that browsers use: `baseUrl`, which a proxy in front has, or else the origin of the request. */
export const originOf = (state: RequestState, options: Options): string => urlOf(state, options).origin

/**
 * Returns whether a request reads only, or comes from a page of this server. `SameSite` alone would let pages of other
 * ports of the host in. Browsers send `Sec-Fetch-Site` to HTTPS and to this machine, and `Origin` with every change.
 */
export const isPermitted = (state: RequestState, options: Options): boolean => {
  const { headers, method } = state.request
  if (method === "GET" || method === "HEAD") return true
  const site = headers["sec-fetch-site"]
  if (site !== undefined) return site === "same-origin"
  const { origin } = headers
  return origin !== undefined && (origin === state.origin || origin === urlOf(state, options).origin)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The origin that browsers use: `baseUrl`, which a proxy in front has, or else the origin of the request. */
const urlOf = (state: RequestState, { baseUrl }: Options) => new URL(baseUrl ?? state.origin)

/** The port is in the name, because all ports of a host share their cookies. `__Host-` requires HTTPS. */
const nameOf = (state: RequestState, options: Options): string => {
  const { port, protocol } = urlOf(state, options)
  return protocol === "https:" ? "__Host-kinora" : `kinora_${port === "" ? "80" : port}`
}

const pendingNameOf = (state: RequestState, options: Options): string => `${nameOf(state, options)}_sign_in`

const attributes = (state: RequestState, options: Options, sameSite: "Lax" | "Strict" = "Strict"): string =>
  `Path=/; HttpOnly; SameSite=${sameSite}${urlOf(state, options).protocol === "https:" ? "; Secure" : ""}`

const httpDate = (time: DateTime.Utc): string => DateTime.toDate(time).toUTCString()
