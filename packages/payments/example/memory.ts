import { PaymentProvider, Payments } from "@kinora/payments"
import { Console, DateTime, Effect, Layer } from "effect"

// A provider that asks nobody. `StripeProvider.layer` is the one for Stripe Checkout.
const provider = Layer.succeed(PaymentProvider.PaymentProvider, {
  name: "example",
  open: ({ payment }) =>
    Effect.map(DateTime.now, (now) => ({
      reference: `ref-${payment}`,
      url: "https://pay.example/1",
      expiresAt: DateTime.add(now, { hours: 1 })
    })),
  read: () => Effect.succeed({ _tag: "Open" }),
  verify: () => new PaymentProvider.SignatureRejected()
})

const program = Effect.gen(function*() {
  const payments = yield* Payments.Payments

  const reserved = yield* payments.reserve({ account: "acct-1", cents: 2_000 })
  const { payment, url } = yield* payments.start(reserved, {
    successUrl: "https://shop.example/thanks",
    cancelUrl: "https://shop.example/wallet"
  })

  // The outcome that a webhook reports, twice.
  const outcome = {
    reference: `ref-${payment.id}`,
    payment: payment.id,
    status: "paid",
    amount: 2_000,
    currency: "usd"
  } as const
  const first = yield* payments.settle(outcome, { isCredited: true })
  const second = yield* payments.settle(outcome, { isCredited: true })
  yield* Console.log(url, first._tag, second._tag)
})

await Effect.runPromise(Effect.provide(program, Payments.layerMemory.pipe(Layer.provide(provider))))
// https://pay.example/1 Paid Unchanged
