/**
 * `POST /internal/callbacks/{id}`: an upstream reports that a job may have ended there. Not part of
 * the API for clients: upstreams get the signed URL with the job. Nothing in the request but the
 * signature counts, and the body is not read.
 */
import { Callbacks } from "@kinora/generations"
import { GenerationId } from "@kinora/generations/Generation"
import type { AnyApiError } from "@kinora/http-api/ApiError"
import { RateLimit } from "@kinora/rate-limit"
import { UrlSigner } from "@kinora/storage"
import { DateTime, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { currentRequest } from "../middleware/currentRequest.ts"
import { makeCountFailure } from "../middleware/rateLimits.ts"
import { unavailable } from "../middleware/refusals.ts"
import { declaredLength } from "../middleware/requestBodies.ts"
import { closing, noSuchRoute, responseTo } from "../wire/errorResponse.ts"

/** The route. Everything but a valid callback gets the response of a path that does not exist. */
export const layer = (options: HttpServerOptions) =>
  Layer.unwrap(Effect.gen(function*() {
    const callbacks = yield* Callbacks.Callbacks
    const signer = yield* UrlSigner.UrlSigner
    const countFailure = makeCountFailure(yield* RateLimit.RateLimit, options)

    const handle = Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { exp, sig } = yield* HttpServerRequest.ParsedSearchParams
      const id = GenerationId.parse((yield* HttpRouter.params)["id"] ?? "")
      const isSigned = id !== undefined && typeof exp === "string" && typeof sig === "string"
      const verdict = isSigned ? signer.verify(Callbacks.pathOf(id), { exp, sig }, yield* DateTime.now) : "Wrong"
      if (request.method === "POST" && verdict === "Valid" && id !== undefined) {
        yield* callbacks.publish([id])
        return accepted
      }
      // The signature of an expired URL is not a guess.
      if (verdict === "Wrong") yield* countFailure(yield* currentRequest)
      return noSuchRoute
    }).pipe(
      Effect.catchTag("StorageError", unavailable),
      Effect.catch((error: AnyApiError) => Effect.succeed(responseTo(error)))
    )

    return HttpRouter.add(
      "*",
      Callbacks.route,
      Effect.map(
        Effect.all([handle, HttpServerRequest.HttpServerRequest]),
        // Otherwise the server would read a long body to its end before the next request of the connection.
        ([response, request]) => isShort(request, options) ? response : closing(response)
      )
    )
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const accepted = HttpServerResponse.empty({ status: 204 })

/** Whether the body has a declared length within the limit, or is absent. */
const isShort = (request: HttpServerRequest.HttpServerRequest, { bodyBytesMax }: HttpServerOptions): boolean =>
  request.headers["transfer-encoding"] === undefined && (declaredLength(request) ?? 0) <= bodyBytesMax
