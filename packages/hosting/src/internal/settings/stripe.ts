/** The access to Stripe, from the settings. */
import type { StripeProvider } from "@kinora/payments"
import { Redacted } from "effect"
import type { Values } from "./definitions.ts"

/** Returns the options of Stripe, or `undefined` if no key is set. */
export const stripeOf = (values: Values): StripeProvider.StripeOptions | undefined =>
  values.stripe_secret_key === undefined ? undefined : {
    secretKey: Redacted.make(values.stripe_secret_key),
    webhookSecrets: (values.stripe_webhook_secrets ?? []).map((secret) => Redacted.make(secret)),
    apiBase: values.stripe_api_url
  }
