/** A payment from its checkout to the balance, over two servers of which one is killed while it credits. */
import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { eventOf, paid, secretKey, stripeApi } from "@kinora/testkit/upstreams/StripeServer"
import { Effect, Fiber, Schema } from "effect"
import { Stripe } from "stripe"
import * as Client from "../src/Client.ts"
import * as Program from "../src/Program.ts"
import * as Site from "../src/Site.ts"
import * as DatabaseLocks from "./databaseLocks.ts"

const adminToken = "the-token-of-the-operators-of-this-site"
const webhookSecret = "whsec_of_the_payments_of_this_site"

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ id: Schema.String })))
const decodeCheckout = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ provider_reference: Schema.String, url: Schema.String }))
)
const textOf = ({ bytes }: Client.Answer) => new TextDecoder().decode(bytes)

it.live("a payment is credited once while webhooks are repeated and a server is killed", () =>
  Effect.gen(function*() {
    const stripe = yield* stripeApi(Date.now)
    const databaseUrl = yield* TestDatabase.postgresUrl
    const site = yield* Site.make({ databaseUrl })
    const start = Program.startServer({
      ...site.environment,
      KINORA_LOG_LEVEL: "info",
      KINORA_WORKERS: "0",
      KINORA_ADMIN_TOKEN: adminToken,
      KINORA_STRIPE_API_URL: stripe.origin,
      KINORA_STRIPE_SECRET_KEY: secretKey,
      KINORA_STRIPE_WEBHOOK_SECRETS: webhookSecret
    })
    const [killed, other] = [yield* start, yield* start]
    const database = yield* DatabaseLocks.connect(databaseUrl)
    const post = (path: string, body: object) =>
      Effect.map(
        Client.send(`${killed.baseUrl}/admin/v1${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
          body: JSON.stringify(body)
        }),
        textOf
      )
    const { id } = decode(yield* post("/accounts", { email: "payer@example.com" }))
    const urls = { success_url: "https://shop.test/thanks", cancel_url: "https://shop.test/wallet" }
    const opened = yield* post(`/accounts/${id}/wallet/checkouts`, { amount_usd_cents: 2_000, ...urls })
    const { provider_reference: reference, url } = decodeCheckout(opened)
    const payload = eventOf("checkout.session.completed", stripe.change(reference, paid))
    const header = Stripe.webhooks.generateTestHeaderString({ payload, secret: webhookSecret })
    const webhook = (server: Program.Server) =>
      Client.send(`${server.baseUrl}/webhooks/stripe`, {
        method: "POST",
        headers: { "stripe-signature": header },
        body: payload
      })

    // The unit of work has ended the payment, and waits for the account, when its server is killed.
    const release = yield* database.lock("SELECT FROM accounts_account WHERE email = 'payer@example.com' FOR UPDATE")
    const interrupted = yield* Effect.forkChild(Effect.exit(webhook(killed)))
    yield* database.awaitWaiting(1)
    const ended = yield* killed.kill
    yield* Fiber.join(interrupted)
    yield* release
    const state = Effect.map(
      database.sql(`
        SELECT balance_cents::int4 AS balance, payment.status, is_credited, provider_reference,
          (SELECT count(*)::int4 FROM accounts_movement) AS movements
        FROM accounts_account, payments_payment payment
        WHERE email = 'payer@example.com'
      `),
      ([row]) => row
    )
    const open = { balance: 0, status: "open", is_credited: false, provider_reference: reference, movements: 0 }
    assert.deepStrictEqual(yield* state, open)

    const answers = yield* Effect.all(Array.from({ length: 20 }, () => webhook(other)), { concurrency: "unbounded" })
    assert.deepStrictEqual(answers.map(({ status }) => status), Array(20).fill(200))
    const credited = { ...open, balance: 2_000, status: "paid", is_credited: true, movements: 1 }
    assert.deepStrictEqual(yield* state, credited)

    const rows = yield* database.sql("SELECT to_jsonb(payment)::text AS text FROM payments_payment payment")
    const { stderr, stdout } = yield* other.stop
    const written = JSON.stringify(rows) + ended.stdout + ended.stderr + stdout + stderr
    assert.include(written, "An operator opened a checkout")
    assert.include(written, "A payment was credited")
    for (const secret of [secretKey, webhookSecret, url, "v1="]) assert.notInclude(written, secret)
  }).pipe(Effect.scoped), 120_000)
