/**
 * The answer to bytes that are no HTTP request. Whoever reads the bytes finds that
 * out, and no route is asked; the client gets the envelope all the same (D42).
 */
import { bodyOf } from "@kinora/http-api/ApiError"
import { table } from "@kinora/http-api/ErrorCode"

/** The whole answer as it goes over the wire, after which the connection has to end (D30, D40). */
export const answer = (requestId: string): string => {
  const error = bodyOf("invalid_request", {
    message: "The request could not be read: it is no HTTP, its head is too large, or it took too long to arrive."
  })
  const body = JSON.stringify({ error })
  return [
    `HTTP/1.1 ${table.invalid_request.status} Bad Request`,
    "Content-Type: application/json",
    // It is ASCII.
    `Content-Length: ${body.length}`,
    "Connection: close",
    `X-Request-Id: ${requestId}`,
    "",
    body
  ].join("\r\n")
}
