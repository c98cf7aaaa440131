/**
 * `GET /internal/probes/{seconds}`: responds with 204 after these seconds. Not part of the API for clients: only those
 * who have a URL signing key can make the URL. See `Probe`.
 */
import { type AnyApiError, refuse } from "@kinora/http-api/ApiError"
import { Places, RateLimit } from "@kinora/rate-limit"
import { UrlSigner } from "@kinora/storage"
import { DateTime, Duration, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { currentRequest, untimed } from "../middleware/currentRequest.ts"
import { makeCountFailure } from "../middleware/rateLimits.ts"
import { unavailable } from "../middleware/refusals.ts"
import * as Probe from "../Probe.ts"
import { noSuchRoute, responseTo } from "../wire/errorResponse.ts"

/** The route. Everything but a valid probe gets the response of a path that does not exist. */
export const layer = (options: HttpServerOptions) =>
  Layer.unwrap(Effect.gen(function*() {
    const places = yield* Places.Places
    const signer = yield* UrlSigner.UrlSigner
    const countFailure = makeCountFailure(yield* RateLimit.RateLimit, options)

    const wait = Effect.fnUntraced(function*(seconds: number) {
      if (!(yield* places.acquire({ key: "probe", max: probesMax }))) {
        return yield* refuse("unavailable", { message: `${probesMax} probes run already. Try again in a minute.` })
      }
      yield* untimed(Effect.sleep(Duration.seconds(seconds)))
      return HttpServerResponse.empty({ status: 204 })
    }, Effect.scoped)

    const handle = Effect.gen(function*() {
      const { exp, sig } = yield* HttpServerRequest.ParsedSearchParams
      const seconds = (yield* HttpRouter.params)["seconds"] ?? ""
      const isSigned = typeof exp === "string" && typeof sig === "string"
      const verdict = isSigned ? signer.verify(Probe.pathOf(seconds), { exp, sig }, yield* DateTime.now) : "Wrong"
      if (verdict === "Valid" && Number(seconds) <= Probe.secondsMax) return yield* wait(Number(seconds))
      // The signature of an expired URL is not a guess.
      if (verdict === "Wrong") yield* countFailure(yield* currentRequest)
      return noSuchRoute
    }).pipe(
      Effect.catchTag("StorageError", unavailable),
      Effect.catch((error: AnyApiError) => Effect.succeed(responseTo(error)))
    )

    return HttpRouter.add("GET", Probe.route, handle)
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum number of probes that wait for their response at the same time. */
const probesMax = 8
