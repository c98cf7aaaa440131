/** Metrics of upstreams. */
import { Effect, Metric } from "effect"

/** Records whether jobs are submitted to an upstream. */
export const circuit = (upstream: string, isOpen: boolean): Effect.Effect<void> =>
  Metric.update(openOf(upstream), isOpen ? 1 : 0)

/** Records whether a worker reports an upstream as paused. */
export const paused = (upstream: string, isPaused: boolean): Effect.Effect<void> =>
  Metric.update(pausedOf(upstream), isPaused ? 1 : 0)

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

const openOf = (upstream: string) =>
  Metric.gauge("kinora_upstream_open", {
    description: "1 while no job is submitted to the upstream because its calls fail, otherwise 0.",
    attributes: { upstream }
  })

const pausedOf = (upstream: string) =>
  Metric.gauge("kinora_upstream_paused", {
    description: "1 while the worker reports the upstream as paused, after a long failure, otherwise 0.",
    attributes: { upstream }
  })

const failuresOf = (upstream: string, call: string) =>
  Metric.counter("kinora_upstream_failures_total", {
    description: "Calls that failed because of the upstream: no response, an overload, or a rejected credential.",
    attributes: { upstream, call },
    incremental: true
  })
