/** Definitions of the settings of payments. See `definitions`. */
import { Schema } from "effect"
import { listOf } from "./listOf.ts"

/** Definitions by key of the file. */
export const paymentDefinitions = {
  stripe_secret_key: {
    schema: Schema.String.check(Schema.isPattern(/^(sk|rk)_[\x21-\x7e]{8,500}$/)),
    default: undefined,
    expected: "a secret or restricted key of Stripe, which begins with sk_ or rk_",
    about: "Key of Stripe's API. If unset, customers cannot pay by themselves: operators book deposits.",
    isSecret: true
  },
  stripe_webhook_secrets: {
    schema: listOf(Schema.String.check(Schema.isPattern(/^whsec_[\x21-\x2b\x2d-\x7e]{8,500}$/))),
    default: undefined,
    expected: "signing secrets of Stripe, which begin with whsec_, separated by commas",
    about:
      "Signing secrets of the webhook endpoint at Stripe, separated by commas. If unset, payments are credited when a process reads them at Stripe, after 10 minutes or more.",
    isSecret: true,
    isList: true
  },
  stripe_api_url: {
    schema: Schema.String.check(Schema.isPattern(/^https?:\/\/[^/?#@]+$/)),
    default: undefined,
    expected: "an origin such as https://api.stripe.com, without a path",
    about: "Origin of Stripe's API, for tests. If unset, https://api.stripe.com."
  }
} as const
