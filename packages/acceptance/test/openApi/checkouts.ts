/** Checkouts of operators, with a payment provider of the test. */
import { PaymentProvider } from "@kinora/payments"
import { DateTime, Effect, Layer } from "effect"
import { fieldOf, type Findings, walk } from "./Walk.ts"

/** Opens and lists checkouts, with and without success. */
export const checkouts = async (findings: Findings): Promise<void> => {
  await walk(findings, { paymentProvider }, async ({ ask, host, send }) => {
    const operator = { apiKey: host.adminToken }
    const body = { amount_usd_cents: 2_000, success_url: "https://shop.test/a", cancel_url: "https://shop.test/b" }
    const created = await send("POST /admin/v1/accounts", { email: "payer@example.com" }, operator)
    const path = `/admin/v1/accounts/${fieldOf(created, "id")}/wallet/checkouts`
    for (const amount of [2_000, 2_000, 1]) {
      await send(`POST ${path}`, { ...body, amount_usd_cents: amount }, operator)
    }
    await send(`POST ${path}`, { ...body, cancel_url: "https://shop.test/rejected" }, operator)
    await send(`POST ${path}`, { ...body, cancel_url: "https://shop.test/unavailable" }, operator)
    await ask(`GET ${path}?limit=1`, operator)
    await ask(`GET ${path}?limit=0`, operator)
    await ask("GET /admin/v1/accounts/nobody/wallet/checkouts", operator)
    for (let n = 0; n < 20; n++) await send(`POST ${path}`, body, operator)
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Opens checkouts, except for those that return to the paths `/rejected` and `/unavailable`. */
const paymentProvider = Layer.succeed(
  PaymentProvider.PaymentProvider,
  PaymentProvider.PaymentProvider.of({
    name: "stripe",
    open: Effect.fnUntraced(function*({ cancelUrl, payment }) {
      const reason = { provider: "stripe", problem: "a test" }
      if (cancelUrl.endsWith("rejected")) return yield* new PaymentProvider.ProviderRejected(reason)
      if (cancelUrl.endsWith("unavailable")) return yield* new PaymentProvider.ProviderUnavailable(reason)
      const expiresAt = DateTime.add(yield* DateTime.now, { hours: 24 })
      return { reference: `cs_${payment}`, url: "https://pay.test", expiresAt }
    }),
    read: () => Effect.succeed({ _tag: "Open" }),
    verify: () => Effect.fail(new PaymentProvider.SignatureRejected())
  })
)
