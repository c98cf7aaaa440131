/** `GET /healthz`, `GET /readyz` and `GET /metrics` (D49). */
import { Api } from "@kinora/http-api/Api"
import { bodyOf, ServiceUnavailable } from "@kinora/http-api/ApiError"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { Readiness } from "../Readiness.ts"
import { noSuchRoute } from "./errorResponse.ts"

/** The handlers. */
export const layer = ({ metrics }: HttpServerOptions) =>
  HttpApiBuilder.group(
    Api,
    "health",
    Effect.fnUntraced(function*(handlers) {
      const { notReady } = yield* Readiness
      return handlers
        .handle("metrics", () => metrics ? exposition : Effect.succeed(noSuchRoute))
        .handle("live", () => Effect.succeed({ status: "ok" } as const))
        .handle(
          "ready",
          Effect.fnUntraced(function*() {
            const names = yield* notReady
            if (names.length === 0) return { status: "ready" } as const
            return yield* new ServiceUnavailable({
              error: bodyOf("unavailable", {
                message: "The service is not ready; details.not_ready names what it waits for.",
                details: { not_ready: names }
              }),
              retry: { afterMillis: 1000 }
            })
          })
        )
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** All that the process counts, what the host adds included. */
const exposition = Effect.map(
  PrometheusMetrics.format(),
  (text) => HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
)
