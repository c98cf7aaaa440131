/** Bodies of requests of Node's HTTP server. */
import { notComparable, notParsed } from "./content.ts"

/** The part of `IncomingMessage` and `Http2ServerRequest` of Node that is used. */
export interface NodeRequest {
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly readableEnded: boolean
  /** The stream of HTTP/2. */
  readonly stream?: { readonly endAfterHeaders?: boolean | undefined } | undefined
}

/** Returns the header `Idempotency-Key`. */
export const keyOf = ({ headers }: NodeRequest): string | undefined => headers["idempotency-key"]?.toString()

/**
 * Returns the body that a parser has left, or `undefined` for a request without one. Fails if nothing has read it, and for a
 * parsed multipart body, whose files are elsewhere: a request with another file would be the same.
 */
export const parsedBody = (request: NodeRequest, body: unknown): unknown => {
  if (!hasBody(request)) return undefined
  if (!request.readableEnded || body === undefined) throw notParsed()
  const isMultipart = /^multipart\//i.test(request.headers["content-type"]?.toString() ?? "")
  if (isMultipart && !(body instanceof Uint8Array)) throw notComparable()
  return body
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A request of HTTP/2 can have a body without a header that announces it. */
const hasBody = ({ headers, stream }: NodeRequest): boolean => {
  const length = headers["content-length"]
  if (length !== undefined) return Number(length) > 0
  return headers["transfer-encoding"] !== undefined || stream?.endAfterHeaders === false
}
