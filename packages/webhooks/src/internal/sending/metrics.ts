/** What is counted of sends, each time once. */
import { Effect, Metric } from "effect"
import type { Reason } from "../../Delivery.ts"

/** Counts a send that ended. Times in milliseconds; `delay` is from when it was due until it began. */
export const sent = (
  { delay, duration, reason }: { readonly reason: Reason; readonly delay: number; readonly duration: number }
): Effect.Effect<void> =>
  Effect.andThen(
    Metric.update(sendsOf(outcomeOf(reason)), 1),
    Effect.andThen(Metric.update(seconds, duration / 1000), Metric.update(delays, Math.max(0, delay) / 1000))
  )

/** Counts a send for as long as it is under way. */
export const hold = <A, E, R>(send: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(Metric.modify(inFlight, 1), () => send, () => Metric.modify(inFlight, -1))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Statuses by their class, so that receivers cannot make up metrics. */
const outcomeOf = (reason: Reason): string =>
  reason.startsWith("status_") ? `${reason.slice(0, "status_N".length)}xx` : reason

const sends = new Map<string, Metric.Counter<number>>()

const sendsOf = (outcome: string) => {
  const known = sends.get(outcome)
  if (known !== undefined) return known
  const made = Metric.counter("kinora_webhook_sends_total", {
    description: "Webhook requests that were sent, by what came of them.",
    attributes: { outcome },
    incremental: true
  })
  sends.set(outcome, made)
  return made
}

const seconds = Metric.histogram("kinora_webhook_send_seconds", {
  description: "Time that a webhook request took.",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

const delays = Metric.histogram("kinora_webhook_delay_seconds", {
  description: "Time from when a webhook was due until its request began.",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 3600]
})

const inFlight = Metric.gauge("kinora_webhook_sends_in_flight", {
  description: "Webhook requests that are under way in this process."
})
