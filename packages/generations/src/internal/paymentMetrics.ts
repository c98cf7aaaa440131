/** Metrics of payments. Each outcome is counted once, after the unit of work that ended the payment. */
import type { Decision } from "@kinora/payments/Payments"
import { Effect, Metric } from "effect"

/** Counts the payment that a decision ended, if it ended one. */
export const ended = (decision: Decision): Effect.Effect<void> => {
  if (decision._tag === "Unchanged" || decision._tag === "Unknown") return Effect.void
  const { isCredited, status } = decision.payment
  if (status === "paid") return Metric.update(isCredited ? counters.credited : counters.not_credited, 1)
  return Metric.update(status === "expired" ? counters.expired : counters.failed, 1)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const counterOf = (outcome: string) =>
  Metric.counter("kinora_payments_ended_total", {
    description: "Payments that ended at the provider, by outcome.",
    attributes: { outcome },
    incremental: true
  })

const counters = {
  credited: counterOf("credited"),
  not_credited: counterOf("not_credited"),
  expired: counterOf("expired"),
  failed: counterOf("failed")
}
