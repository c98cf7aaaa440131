/** The targets of requests and their `Host` header, as section 3.2 of RFC 9112 defines them. */
import type { IncomingMessage } from "node:http"

/**
 * Replaces an absolute URL as target with its path, and the `Host` header with its host. A
 * target that is neither a path nor a URL, and that of a request without a valid host, becomes
 * `invalid`, to which the routes respond with 400.
 */
export const normalize = (request: IncomingMessage): void => {
  const { headers, url = "" } = request
  if (!hasHost(request)) request.url = invalid
  else if (!url.startsWith("/")) {
    const [, host = "", path = ""] = absolutePattern.exec(url) ?? []
    if (host !== "" && hostPattern.test(host)) {
      headers.host = host
      request.url = path.startsWith("/") ? path : `/${path}`
    } else request.url = request.method === "OPTIONS" && url === "*" ? "/*" : invalid
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Not a path, so no client can send it. */
const invalid = "invalid"

const absolutePattern = /^https?:\/\/([^/?#]*)(.*)$/i

/** A name or an address, and optionally a port. */
const hostPattern = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]*)(?::\d{0,5})?$/i

/** Whether there is exactly one `Host` line with a valid host. HTTP/1.0 does not require it. */
const hasHost = ({ headers: { host }, httpVersion, rawHeaders }: IncomingMessage): boolean => {
  if (host === undefined) return httpVersion === "1.0"
  let lines = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === "host") lines++
  }
  return lines === 1 && hostPattern.test(host)
}
