/**
 * `POST /webhooks/stripe`: Stripe reports the outcome of a checkout. Not part of the API for clients: the signature in
 * `Stripe-Signature` proves the sender. See docs/how-to/accept-payments-with-stripe.md.
 */
import { Checkouts } from "@kinora/generations"
import type { AnyApiError } from "@kinora/http-api/ApiError"
import { PaymentProvider } from "@kinora/payments"
import { RateLimit } from "@kinora/rate-limit"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { currentRequest } from "../middleware/currentRequest.ts"
import { makeCountFailure } from "../middleware/rateLimits.ts"
import { unavailable } from "../middleware/refusals.ts"
import * as RequestBodies from "../middleware/requestBodies.ts"
import { closing, errorResponse, noSuchRoute, responseTo } from "../wire/errorResponse.ts"

/** The path of the route. Requests are `POST`. */
export const route = "/webhooks/stripe"

/** The route. Without a payment provider it gets the response of a path that does not exist. */
export const layer = (options: HttpServerOptions) =>
  Layer.unwrap(Effect.gen(function*() {
    const checkouts = yield* Checkouts.Checkouts
    const countFailure = makeCountFailure(yield* RateLimit.RateLimit, options)

    const handle = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest, signature: string) {
      const body = yield* Effect.orDie(request.arrayBuffer)
      yield* checkouts.receive(new Uint8Array(body), signature)
      return handled
    })

    const receive = Effect.gen(function*() {
      const state = yield* currentRequest
      // The body does not matter if there is no provider, or no signature.
      if (!checkouts.isEnabled) return noSuchRoute
      if ((RequestBodies.declaredLength(state.request) ?? 0) > bodyBytesMax) return tooLarge
      const signature = state.request.headers["stripe-signature"]
      if (signature === undefined) return yield* new PaymentProvider.SignatureRejected()
      return yield* RequestBodies.received(handle(state.request, signature), state, {
        bytesMax: bodyBytesMax,
        owner: undefined
      })
    }).pipe(
      Effect.catchTags({
        EventUnreadable: (error) => Effect.as(Effect.logError("A webhook of Stripe cannot be read", error), unreadable),
        PaymentsDisabled: () => Effect.succeed(noSuchRoute),
        SignatureRejected: () => Effect.as(Effect.flatMap(currentRequest, countFailure), wrongSignature)
      }),
      Effect.catchTag("StorageError", unavailable),
      Effect.catch((error: AnyApiError) => Effect.succeed(responseTo(error)))
    )

    return HttpRouter.add(
      "*",
      route,
      Effect.flatMap(
        HttpServerRequest.HttpServerRequest,
        ({ method }) => method === "POST" ? receive : Effect.succeed(noSuchRoute)
      )
    )
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum length of a webhook. Those of checkouts have a few KiB. */
const bodyBytesMax = 256 * 1024

const handled = HttpServerResponse.empty({ status: 200 })

const wrongSignature = errorResponse("invalid_request", {
  message:
    "The signature of the webhook is missing, wrong or older than 300 seconds; set the signing secret of its endpoint."
})

const unreadable = errorResponse("invalid_request", {
  message: "The body of the webhook is not as documented; use an endpoint with a current version of Stripe's API."
})

const tooLarge = closing(
  errorResponse("payload_too_large", { message: `The request body must have at most ${bodyBytesMax} bytes.` })
)
