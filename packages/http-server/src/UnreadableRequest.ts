/**
 * The response to bytes that are not an HTTP request, or that do not arrive in time. No route handles them, but the
 * client gets the error envelope.
 */
import { encode, make } from "@kinora/http-api/ApiError"

/** Options for `answer`. */
export interface UnreadableRequestOptions {
  /** Whether the request did not arrive in time. Otherwise it is not HTTP. */
  readonly isLate: boolean
}

/** Returns the whole response as it goes over the wire. Close the connection after it. */
export const answer = (requestId: string, { isLate }: UnreadableRequestOptions): string => {
  const { body, status } = encode(
    isLate
      ? make("request_timeout", { message: "The request took too long to arrive; send it again." })
      : make("invalid_request", {
        message: "The request could not be read: it is not HTTP, or its header is too large."
      })
  )
  const text = JSON.stringify(body)
  return [
    `HTTP/1.1 ${status} ${isLate ? "Request Timeout" : "Bad Request"}`,
    "Content-Type: application/json",
    // The text is ASCII, so its length is the number of its bytes.
    `Content-Length: ${text.length}`,
    "Connection: close",
    `X-Request-Id: ${requestId}`,
    "",
    text
  ].join("\r\n")
}
