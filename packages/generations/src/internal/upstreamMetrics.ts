/** Metrics of upstreams. */
import { Effect, Metric } from "effect"

/** Makes a function that sets a gauge of an upstream to 1 or 0. */
const flag = (name: string, description: string) => (upstream: string, isSet: boolean): Effect.Effect<void> =>
  Metric.update(Metric.gauge(name, { description, attributes: { upstream } }), isSet ? 1 : 0)

/** Records whether the circuit of an upstream is open. */
export const circuit = flag(
  "kinora_upstream_open",
  "1 while no job is submitted to the upstream because its calls fail, otherwise 0."
)

/** Records whether a worker reports an upstream as paused. */
export const paused = flag(
  "kinora_upstream_paused",
  "1 while the worker reports the upstream as paused, after a long failure, otherwise 0."
)

/** Starts the metrics of an upstream, so that they exist before the first failure. */
export const start = (upstream: string): Effect.Effect<void> =>
  Effect.all([
    circuit(upstream, false),
    paused(upstream, false),
    ...calls.map((call) => Metric.update(failuresOf(upstream, call), 0))
  ], { discard: true })

/** Counts a call that failed because of the upstream. */
export const failed = (upstream: string, call: "submit" | "poll"): Effect.Effect<void> =>
  Metric.update(failuresOf(upstream, call), 1)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const calls = ["submit", "poll"] as const

const failuresOf = (upstream: string, call: string) =>
  Metric.counter("kinora_upstream_failures_total", {
    description: "Calls that failed because of the upstream: no response, an overload, or a rejected credential.",
    attributes: { upstream, call },
    incremental: true
  })
