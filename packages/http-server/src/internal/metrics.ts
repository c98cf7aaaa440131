/** What the process tells whoever collects metrics: `GET /metrics`, Prometheus text (D49). */
import { type Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"

/** The route. Everything that the process counts is in the text, what the host adds included. */
export const layer = PrometheusMetrics.layerHttp({ path: "/metrics" })

/** Counts a response. */
export const countResponse = (status: number): Effect.Effect<void> => {
  let counter = counters.get(status)
  if (counter === undefined) {
    counter = Metric.withAttributes(responses, { status: String(status) })
    counters.set(status, counter)
  }
  return Metric.update(counter, 1)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const responses = Metric.counter("kinora_http_responses_total", {
  description: "Responses by status.",
  incremental: true
})

/** One for each status that was ever answered, since making them costs more than counting. */
const counters = new Map<number, typeof responses>()
