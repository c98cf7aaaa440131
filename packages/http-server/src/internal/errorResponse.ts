/** Envelopes for what happens outside of a typed handler. */
import { bodyOf, type ErrorDetails } from "@kinora/http-api/ApiError"
import { type ErrorCode, table } from "@kinora/http-api/ErrorCode"
import { HttpServerResponse } from "effect/http"

/** The response of a code (D40, D42). */
export const errorResponse = (
  code: ErrorCode,
  more?: ErrorDetails & { readonly headers?: Readonly<Record<string, string>> | undefined }
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(
    { error: bodyOf(code, more) },
    more?.headers === undefined
      ? { status: table[code].status }
      : { status: table[code].status, headers: more.headers }
  )

/** 404 of a path that there is not. */
export const noSuchRoute = errorResponse("not_found", {
  message: "There is no such route; /openapi.json lists them all."
})

/** `Retry-After` and its exact sibling for a wait in whole seconds (D27). */
export const retryAfterSeconds = (seconds: number) => ({
  "retry-after": String(seconds),
  "retry-after-ms": String(seconds * 1000)
})
