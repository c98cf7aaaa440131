/** Decides what an outcome at the provider does to a payment. */
import { type DateTime, Option } from "effect"
import type { Payment } from "../Payment.ts"
import type { CheckoutOutcome } from "../PaymentProvider.ts"
import type { Settlement } from "../PaymentStore.ts"

/**
 * The effect of an outcome. `Paid`: the payment is paid now, so the amount is to be credited. `Mismatched`: the checkout was
 * paid with another amount or currency, so nothing is credited. `Ended`: it expired or failed. `Unchanged`: it had ended
 * before. `Unknown`: the service has no such payment, as when another program opened the checkout.
 */
export type Decision =
  | { readonly _tag: "Ended" | "Mismatched" | "Paid"; readonly payment: Payment; readonly settlement: Settlement }
  | { readonly _tag: "Unchanged"; readonly payment: Payment }
  | { readonly _tag: "Unknown" }

/** The surroundings of a decision. */
export interface DecisionOptions {
  readonly now: DateTime.Utc
  /** Name of the provider of the outcome. */
  readonly provider: string | undefined
  /** Whether the caller can credit the amount. */
  readonly isCredited: boolean
}

/** Decides. Money that arrived counts, also after the checkout had expired or failed; nothing changes a paid payment. */
export const decide = (
  found: Option.Option<Payment>,
  { amount, currency, reference, status }: CheckoutOutcome,
  { isCredited, now, provider }: DecisionOptions
): Decision => {
  if (Option.isNone(found) || found.value.provider !== provider) return { _tag: "Unknown" }
  const payment = found.value
  // Another checkout can name the payment in its metadata. Only the recorded one settles it.
  if (Option.exists(payment.providerReference, (known) => known !== reference)) return { _tag: "Unknown" }
  const isFinal = payment.status === "paid" || (status !== "paid" && payment.status !== "open")
  if (isFinal) return { _tag: "Unchanged", payment }
  const isEqual = amount === payment.cents && currency === "usd"
  const settlement: Settlement = {
    status,
    isCredited: status === "paid" && isEqual && isCredited,
    settledAt: now,
    providerReference: Option.fromUndefinedOr(reference)
  }
  const ended: Payment = { ...payment, ...settlement, settledAt: Option.some(now) }
  if (status !== "paid") return { _tag: "Ended", payment: ended, settlement }
  return { _tag: isEqual ? "Paid" : "Mismatched", payment: ended, settlement }
}
