/** `GET /healthz`, `GET /readyz` and `GET /metrics`. */
import { Api } from "@kinora/http-api/Api"
import { refuse } from "@kinora/http-api/ApiError"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { Readiness } from "../Readiness.ts"
import { noSuchRoute } from "../wire/errorResponse.ts"
import * as EndpointGroup from "./endpointGroup.ts"

/** The handler of `/healthz`. */
export const layer = EndpointGroup.of(
  Api,
  "health",
  (handlers) => handlers.handleAll({ live: () => Effect.succeed({ status: "ok" } as const) })
)

/** The handlers of `/readyz` and `/metrics`. */
export const layerMonitoring = ({ metrics }: HttpServerOptions) =>
  EndpointGroup.make(Api, "monitoring", function*(handlers) {
    const { notReady } = yield* Readiness
    return handlers.handleAll({
      ready: Effect.fnUntraced(function*() {
        const names = yield* notReady
        if (names.length === 0) return { status: "ready" } as const
        return yield* refuse("unavailable", {
          message: "The service is not ready; details.not_ready lists the parts that are not.",
          details: { not_ready: names }
        })
      }),
      metrics: () => metrics ? exposition : Effect.succeed(noSuchRoute)
    })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** All metrics of the process, those of the host included. */
const exposition = Effect.map(
  PrometheusMetrics.format(),
  (text) => HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
)
