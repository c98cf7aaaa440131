/**
 * `PaymentProvider` over Stripe Checkout: the customer pays on a page of Stripe, by card or what else is enabled there.
 *
 * Stripe gets the id of the payment, the id of the account, the amount and the two addresses, and nothing else.
 */
import { type Duration, Effect, Layer, type Redacted } from "effect"
import * as StripeCalls from "./internal/stripe/calls.ts"
import * as StripeEvents from "./internal/stripe/events.ts"
import * as Session from "./internal/stripe/session.ts"
import { PaymentProvider } from "./PaymentProvider.ts"

/** Name of the provider in payments, and the start of the references of their deposits. */
export const name = "stripe"

/** Options for `layer`. */
export interface StripeOptions {
  /** The secret or restricted key of the API, `sk_…` or `rk_…`. A restricted one needs to write Checkout Sessions and to read payment intents. */
  readonly secretKey: Redacted.Redacted
  /** The signing secrets of the webhook endpoint, `whsec_…`: one, or two during a rotation. */
  readonly webhookSecrets: ReadonlyArray<Redacted.Redacted>
  /** Origin of the API. Default `https://api.stripe.com`. */
  readonly apiBase?: string | undefined
  /** Name of the purchase that the customer sees, 1 to 250 characters. Default "Balance". */
  readonly product?: string | undefined
  /** Time limit of one request. Default 10 seconds. */
  readonly timeout?: Duration.Input | undefined
  /** Time limit of a call with its repeated requests. Default 25 seconds. */
  readonly deadline?: Duration.Input | undefined
  /** How often a request is repeated after a failure that may pass. Default 2. */
  readonly retries?: number | undefined
}

/** Stripe with these options. Loads the library of Stripe when it is built. */
export const layer = (options: StripeOptions): Layer.Layer<PaymentProvider> =>
  Layer.effect(
    PaymentProvider,
    Effect.gen(function*() {
      // Loaded here, so that hosts without Stripe do not load it.
      const { Stripe } = yield* Effect.promise(() => import("stripe"))
      const call = StripeCalls.make(Stripe, name, options)
      const { product = "Balance" } = options

      return PaymentProvider.of({
        name,

        open: Effect.fn("StripeProvider.open")(function*({ account, cancelUrl, cents, payment, successUrl }) {
          const response = yield* call((client, request) =>
            client.checkout.sessions.create({
              mode: "payment",
              line_items: [{
                quantity: 1,
                price_data: { currency: Session.currency, unit_amount: cents, product_data: { name: product } }
              }],
              client_reference_id: account,
              metadata: { [Session.paymentKey]: payment },
              payment_intent_data: { metadata: { [Session.paymentKey]: payment } },
              success_url: successUrl,
              cancel_url: cancelUrl
            }, { ...request, idempotencyKey: payment })
          )
          return yield* Session.decodeOpened(name, response)
        }),

        read: Effect.fn("StripeProvider.read")(function*(reference: string) {
          const response = yield* call((client, request) =>
            // The session does not show whether collecting the money has failed; the payment intent does.
            client.checkout.sessions.retrieve(reference, { expand: ["payment_intent"] }, request)
          ).pipe(Effect.catchIf(StripeCalls.isMissing, () => Effect.succeed(undefined)))
          return response === undefined ? { _tag: "Unknown" } : yield* Session.decodeState(name, response)
        }),

        verify: StripeEvents.makeVerify(Stripe, options.webhookSecrets)
      })
    })
  )
