/** Metrics of sends. */
import * as MetricPrefix from "@kinora/persistence/MetricPrefix"
import { Effect, Metric } from "effect"
import type { Reason } from "../../Delivery.ts"

/** A send that ended. */
export interface EndedSend {
  readonly reason: Reason
  /** Milliseconds from when the delivery was due until its request began. */
  readonly delay: number
  /** Milliseconds that the request took. */
  readonly duration: number
}

/** Counts a send that ended, with its duration and its delay. */
export const recordSend = ({ delay, duration, reason }: EndedSend): Effect.Effect<void> =>
  Effect.flatMap(Effect.all({ delays, seconds, sends }), ({ delays, seconds, sends }) =>
    Effect.andThen(
      Metric.update(Metric.withAttributes(sends, { outcome: outcomeOf(reason) }), 1),
      Effect.andThen(Metric.update(seconds, duration / 1000), Metric.update(delays, Math.max(0, delay) / 1000))
    ))

/** Counts a send as in flight while it runs. */
export const trackInFlight = <A, E, R>(send: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(
    inFlight,
    (inFlight) => Effect.acquireUseRelease(Metric.modify(inFlight, 1), () => send, () => Metric.modify(inFlight, -1))
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Groups statuses by class, so that receivers cannot create an unbounded number of time series. */
const outcomeOf = (reason: Reason): string =>
  reason.startsWith("status_") ? `${reason.slice(0, "status_N".length)}xx` : reason

const sends = MetricPrefix.prefixed((prefix) =>
  Metric.counter(`${prefix}webhook_sends_total`, {
    description: "Webhook requests sent, by outcome.",
    incremental: true
  })
)

const seconds = MetricPrefix.prefixed((prefix) =>
  Metric.histogram(`${prefix}webhook_send_seconds`, {
    description: "Duration of a webhook request.",
    boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
  })
)

const delays = MetricPrefix.prefixed((prefix) =>
  Metric.histogram(`${prefix}webhook_delay_seconds`, {
    description: "Time from when a webhook was due until its request began.",
    boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 3600]
  })
)

const inFlight = MetricPrefix.prefixed((prefix) =>
  Metric.gauge(`${prefix}webhook_sends_in_flight`, {
    description: "Webhook requests in flight in this process."
  })
)
