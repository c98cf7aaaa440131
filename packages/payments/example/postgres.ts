import { PgClient } from "@effect/sql-pg"
import { Payments, StripeProvider } from "@kinora/payments"
import { UnitOfWork } from "@kinora/persistence"
import { Config, Console, Effect, Layer } from "effect"

/** Handles a webhook. Respond with 200 if it succeeds, 400 to a rejected signature, and 500 to a failed storage. */
const receive = Effect.fn("receive")(function*(body: Uint8Array, signature: string) {
  const payments = yield* Payments.Payments
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const event = yield* payments.verify(body, signature)
  if (event._tag === "Ignored") return
  yield* atomically(Effect.gen(function*() {
    const decision = yield* payments.settle(event.outcome, { isCredited: true })
    if (decision._tag === "Paid") yield* Console.log("Credit the account here, in the same unit of work", decision)
  }))
})

const program = Effect.gen(function*() {
  const payments = yield* Payments.Payments
  const reserved = yield* payments.reserve({ account: "acct-1", cents: 2_000 })
  const { payment } = yield* payments.start(reserved, {
    successUrl: "https://shop.example/thanks",
    cancelUrl: "https://shop.example/wallet"
  })
  const forged = yield* Effect.flip(receive(new TextEncoder().encode("{}"), "t=1,v1=00"))
  yield* Console.log(payment.status, forged.message)
})

const stripe = Layer.unwrap(Effect.gen(function*() {
  return StripeProvider.layer({
    secretKey: yield* Config.Redacted("STRIPE_SECRET_KEY"),
    webhookSecrets: [yield* Config.Redacted("STRIPE_WEBHOOK_SECRET")],
    apiBase: yield* Config.String("STRIPE_API_BASE").pipe(Config.withDefault("https://api.stripe.com"))
  })
}))

// Creates or updates the tables.
const layer = Payments.layerPostgres().pipe(
  Layer.provide([stripe, PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })])
)

await Effect.runPromise(Effect.provide(program, layer))
// open The signature of the webhook was rejected
