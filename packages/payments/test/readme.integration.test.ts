import { assert, it } from "@effect/vitest"
import { Example, TestDatabase } from "@kinora/testkit"
import { secretKey, stripeApi } from "@kinora/testkit/upstreams/StripeServer"
import { Effect } from "effect"

it.live("the Postgres example of the README prints what it shows", () =>
  Effect.gen(function*() {
    const { origin } = yield* stripeApi()
    const environment = {
      DATABASE_URL: yield* TestDatabase.postgresUrl,
      STRIPE_API_BASE: origin,
      STRIPE_SECRET_KEY: secretKey,
      STRIPE_WEBHOOK_SECRET: "whsec_1"
    }
    const printed = yield* Example.run(new URL("../example/postgres.ts", import.meta.url), environment)
    assert.strictEqual(printed, "open The signature of the webhook was rejected")
  }))
