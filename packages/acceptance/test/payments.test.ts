/** Payments whose webhook never arrives. */
import { assert, it } from "@effect/vitest"
import { TestHost } from "@kinora/host-test"
import { PaymentProvider } from "@kinora/payments"
import { DateTime, Effect, Layer } from "effect"

/** Opens checkouts that were paid, which only a request to the provider shows. */
const paymentProvider = Layer.succeed(
  PaymentProvider.PaymentProvider,
  PaymentProvider.PaymentProvider.of({
    name: "stripe",
    open: Effect.fnUntraced(function*({ payment }) {
      const expiresAt = DateTime.add(yield* DateTime.now, { hours: 24 })
      return { reference: `cs_${payment}`, url: "https://pay.test", expiresAt }
    }),
    read: (reference) =>
      Effect.succeed({
        _tag: "Ended",
        outcome: { reference, payment: undefined, status: "paid", amount: 2_000, currency: "usd" }
      }),
    verify: () => Effect.fail(new PaymentProvider.SignatureRejected())
  })
)

it("a host credits a payment whose webhook is missing within 12 minutes", async () => {
  await using host = await TestHost.start({ paymentProvider })
  const operator = { apiKey: host.adminToken, headers: { "content-type": "application/json" } }
  const path = `/admin/v1/accounts/${host.account.id}`
  const urls = { success_url: "https://shop.test/a", cancel_url: "https://shop.test/b" }
  const opened = await host.fetch(`${path}/wallet/checkouts`, {
    ...operator,
    method: "POST",
    body: JSON.stringify({ amount_usd_cents: 2_000, ...urls })
  })
  assert.strictEqual(opened.status, 201)
  const balance = async () => {
    const account = await host.fetch(path, operator)
    return Object(await account.json()).balance_usd_cents
  }
  await host.clock.advance("9 minutes")
  assert.strictEqual(await balance(), 0)
  await host.clock.advance("3 minutes")
  assert.strictEqual(await balance(), 2_000)
  await host.clock.advance("1 hour")
  assert.strictEqual(await balance(), 2_000)
})
