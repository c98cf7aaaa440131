/**
 * The port of payment providers: opens a checkout, verifies the provider's webhooks, and reads the state of a checkout
 * if no webhook arrived. `layerNone` is for services whose operators book deposits by hand.
 */
import { Context, type DateTime, Effect, Layer, Schema } from "effect"
import type { PaymentId } from "./Payment.ts"

/** A checkout to open. */
export interface NewCheckout {
  /** Makes a repeated call open one checkout. */
  readonly payment: PaymentId
  /** The account that pays. The provider shows it to the staff. */
  readonly account: string
  /** In US cents. */
  readonly cents: number
  /** Where the customer returns to after the payment. */
  readonly successUrl: string
  /** Where the customer returns to without a payment. */
  readonly cancelUrl: string
}

/** An open checkout. */
export interface OpenCheckout {
  /** The provider's id of the checkout. */
  readonly reference: string
  /** Where the customer pays. Whoever has it can see the checkout. */
  readonly url: string
  readonly expiresAt: DateTime.Utc
}

/** The outcome of a checkout. */
export interface CheckoutOutcome {
  /** The provider's id of the checkout. `undefined`: none was opened. */
  readonly reference: string | undefined
  /** The payment that the checkout was opened for, if it was opened by this package. */
  readonly payment: PaymentId | undefined
  readonly status: "paid" | "expired" | "failed"
  /** The amount of the checkout in the smallest unit of its currency. */
  readonly amount: number
  /** The currency of the checkout in lower case, such as `usd`. */
  readonly currency: string
}

/** A verified webhook. `Ignored`: it ends no checkout. */
export type ProviderEvent =
  | { readonly _tag: "Ended"; readonly outcome: CheckoutOutcome }
  | { readonly _tag: "Ignored"; readonly type: string }

/** The state of a checkout. `Open` includes money that is still being collected; `Unknown`: the provider has no such checkout. */
export type CheckoutState =
  | { readonly _tag: "Ended"; readonly outcome: CheckoutOutcome }
  | { readonly _tag: "Open" }
  | { readonly _tag: "Unknown" }

/** No provider is configured, so customers cannot pay by themselves: operators book deposits. */
export class PaymentsDisabled extends Schema.TaggedError<PaymentsDisabled>("@kinora/payments/PaymentsDisabled")(
  "PaymentsDisabled",
  {}
) {
  override get message(): string {
    return "No payment provider is configured. Book a deposit by hand, or configure a provider"
  }
}

/** The provider did not respond in time, or failed. A repeated call can succeed. */
export class ProviderUnavailable
  extends Schema.TaggedError<ProviderUnavailable>("@kinora/payments/ProviderUnavailable")(
    "ProviderUnavailable",
    { provider: Schema.String, problem: Schema.String }
  )
{
  override get message(): string {
    return `The payment provider ${this.provider} did not respond: ${this.problem}`
  }
}

/** The provider rejected the request, for example because of its key or an address. A repeated call is rejected too. */
export class ProviderRejected extends Schema.TaggedError<ProviderRejected>("@kinora/payments/ProviderRejected")(
  "ProviderRejected",
  { provider: Schema.String, problem: Schema.String }
) {
  override get message(): string {
    return `The payment provider ${this.provider} rejected the request: ${this.problem}`
  }
}

/** No secret of the service made the signature of the webhook, or the signature is too old. */
export class SignatureRejected extends Schema.TaggedError<SignatureRejected>("@kinora/payments/SignatureRejected")(
  "SignatureRejected",
  {}
) {
  override get message(): string {
    return "The signature of the webhook was rejected"
  }
}

/** The webhook has a valid signature, and a body that is not as documented. */
export class EventUnreadable extends Schema.TaggedError<EventUnreadable>("@kinora/payments/EventUnreadable")(
  "EventUnreadable",
  { problem: Schema.String }
) {
  override get message(): string {
    return `The body of a webhook with a valid signature cannot be read: ${this.problem}`
  }
}

/** The failures of a call to the provider. */
export type ProviderFailure = PaymentsDisabled | ProviderRejected | ProviderUnavailable

/** Opens and reads checkouts of one provider, and verifies its webhooks. */
export class PaymentProvider extends Context.Service<PaymentProvider, {
  /** Name of the provider in payments. `undefined`: no provider is configured. */
  readonly name: string | undefined

  /** Opens a checkout, once per payment. */
  readonly open: (checkout: NewCheckout) => Effect.Effect<OpenCheckout, ProviderFailure>

  /** Reads the state of a checkout by the provider's id. */
  readonly read: (reference: string) => Effect.Effect<CheckoutState, ProviderFailure>

  /** Verifies a webhook by its body as it arrived and its signature header. */
  readonly verify: (
    body: Uint8Array,
    signature: string
  ) => Effect.Effect<ProviderEvent, EventUnreadable | PaymentsDisabled | SignatureRejected>
}>()("@kinora/payments/PaymentProvider") {}

/** No provider: every call fails with `PaymentsDisabled`. */
export const layerNone: Layer.Layer<PaymentProvider> = Layer.sync(PaymentProvider, () => {
  const disabled = () => Effect.fail(new PaymentsDisabled())
  return PaymentProvider.of({ name: undefined, open: disabled, read: disabled, verify: disabled })
})
