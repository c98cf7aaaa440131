/** `GET /healthz` and `GET /readyz` (D49). */
import { Api } from "@kinora/http-api/Api"
import { bodyOf, ServiceUnavailable } from "@kinora/http-api/ApiError"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Readiness } from "../Readiness.ts"

/** The handlers. */
export const layer = HttpApiBuilder.group(
  Api,
  "health",
  Effect.fnUntraced(function*(handlers) {
    const { notReady } = yield* Readiness
    return handlers
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
