/** Bodies of requests of Node's HTTP server. */
import { notParsed } from "./content.ts"

/** The part of `IncomingMessage` of Node that is used. */
export interface NodeRequest {
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly readableEnded: boolean
}

/** Returns the header `Idempotency-Key`. */
export const keyOf = ({ headers }: NodeRequest): string | undefined => headers["idempotency-key"]?.toString()

/** Returns the body that a parser has left, or `undefined` for a request without one. Fails if nothing has read it. */
export const parsedBody = (request: NodeRequest, body: unknown): unknown => {
  const { headers, readableEnded } = request
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0
  if (!hasBody) return undefined
  if (!readableEnded || body === undefined) throw notParsed()
  return body
}
