/** The response to bytes that are not an HTTP request. No route handles them, but the client gets the error envelope. */
import { encode, make } from "@kinora/http-api/ApiError"

/** Returns the whole response as it goes over the wire. Close the connection after it. */
export const answer = (requestId: string): string => {
  const { body, status } = encode(make("invalid_request", {
    message: "The request could not be read: it is not HTTP, its header is too large, or it took too long to arrive."
  }))
  const text = JSON.stringify(body)
  return [
    `HTTP/1.1 ${status} Bad Request`,
    "Content-Type: application/json",
    // The text is ASCII, so its length is the number of its bytes.
    `Content-Length: ${text.length}`,
    "Connection: close",
    `X-Request-Id: ${requestId}`,
    "",
    text
  ].join("\r\n")
}
