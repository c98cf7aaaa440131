/** The payment provider of a host, from its settings. */
import { PaymentProvider, StripeProvider } from "@kinora/payments"
import { Effect, Layer } from "effect"
import type { Settings } from "./Settings.ts"

/** Stripe if a key is set, otherwise none. Logs a warning if webhooks of Stripe cannot be verified. */
export const layerProviderOf = ({ stripe }: Pick<Settings, "stripe">): Layer.Layer<PaymentProvider.PaymentProvider> =>
  stripe === undefined
    ? PaymentProvider.layerNone
    : Layer.unwrap(Effect.as(
      stripe.webhookSecrets.length > 0 ? Effect.void : Effect.logWarning(
        "KINORA_STRIPE_WEBHOOK_SECRETS is not set: payments are credited when they are read at Stripe, after 10 minutes or more"
      ),
      StripeProvider.layer(stripe)
    ))
