/** Leads browsers to the origin of `baseUrl`, where sign-in links and cookies belong. See docs/reference/console-api.md#pages. */
import { HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../../HttpServerOptions.ts"
import type { RequestState } from "../../middleware/currentRequest.ts"

/**
 * Returns the redirection of a request for a page at another origin than that of `baseUrl`, or `undefined`. It keeps the
 * path and the query; browsers keep the fragment.
 *
 * Origins that differ in their scheme only are equal, since a proxy that ends TLS may not report it, and so are those of
 * a loopback address. A page at a loopback address is never left: a developer or an operator opens it on purpose.
 */
export const redirectionOf = (
  state: RequestState,
  { baseUrl }: Pick<HttpServerOptions, "baseUrl">
): HttpServerResponse.HttpServerResponse | undefined => {
  if (baseUrl === undefined || !isDocument(state)) return undefined
  const { origin } = new URL(baseUrl)
  const { host, hostname } = new URL(state.origin)
  if (host === new URL(baseUrl).host || isLoopback(hostname) || state.request.cookies[guard] !== undefined) {
    return undefined
  }
  return HttpServerResponse.redirect(`${origin}${state.request.url}`, {
    status: 307,
    headers: {
      "cache-control": "no-store",
      "vary": "Accept, Sec-Fetch-Dest",
      // A browser that comes back with it was sent to the origin at which it is: a proxy replaces `Host`.
      "set-cookie": `${guard}=1; Max-Age=10; Path=/console; HttpOnly; SameSite=Lax`
    }
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The cookie that marks a browser that was redirected, so that it is redirected once. */
const guard = "kinora_redirected"

/** Returns whether a browser opens a page. Those that send no `Sec-Fetch-Dest` accept HTML, and programs do not. */
const isDocument = ({ request: { headers } }: RequestState): boolean => {
  const destination = headers["sec-fetch-dest"]
  return destination === undefined
    ? /(?:^|,)\s*text\/html\b/i.test(headers["accept"] ?? "")
    : destination === "document"
}

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" ||
  /^127(?:\.\d+){3}$/.test(hostname)
