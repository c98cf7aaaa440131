/** Responses for errors outside of handlers. */
import { encode, make, type MakeArguments } from "@kinora/http-api/ApiError"
import type { AnyErrorCode } from "@kinora/http-api/ErrorCode"
import { HttpServerResponse } from "effect/http"

/** The response of the error with this code. */
export const errorResponse = <const Code extends AnyErrorCode>(
  code: Code,
  ...options: MakeArguments<Code>
): HttpServerResponse.HttpServerResponse => responseTo(make(code, ...options))

/** The response of an error. */
export const responseTo = (error: Parameters<typeof encode>[0]): HttpServerResponse.HttpServerResponse => {
  const { body, headers, status } = encode(error)
  return HttpServerResponse.jsonUnsafe(body, { status, headers })
}

/** The same response, after which the server closes the connection. */
export const closing = (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.setHeader(response, "connection", "close")

/** 404 for a path that does not exist. */
export const noSuchRoute = errorResponse("not_found", {
  message: "There is no such path; GET /openapi.json lists all paths."
})
