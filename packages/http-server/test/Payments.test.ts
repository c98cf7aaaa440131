/** Checkouts of operators, and the webhooks of Stripe. */
import { assert, it } from "@effect/vitest"
import * as Checkouts from "@kinora/generations/Checkouts"
import { StripeProvider } from "@kinora/payments"
import { StorageError } from "@kinora/persistence/StorageError"
import { drops } from "@kinora/testkit/upstreams/ScriptedServer"
import { eventOf, paid, secretKey, stripeApi } from "@kinora/testkit/upstreams/StripeServer"
import { Clock, DateTime, Effect, Layer, Logger, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import { Stripe } from "stripe"
import type { HttpServerOptions } from "../src/HttpServerOptions.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const token = "the token of the operators of this service"
const webhookSecret = "whsec_of_the_tests"
const returnUrls = { success_url: "https://shop.test/thanks", cancel_url: "https://shop.test/wallet" }

const idOf = Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String }))
const checkoutOf = Schema.decodeUnknownSync(
  Schema.Struct({ id: Schema.String, url: Schema.String, provider_reference: Schema.String })
)

/** Starts a server of Stripe's API, and a host that uses it. */
const start = Effect.fnUntraced(function*(options: Partial<HttpServerOptions> = {}, payments = {}) {
  const clock = yield* Clock.Clock
  const stripe = yield* stripeApi(() => clock.currentTimeMillisUnsafe())
  const layer = Host.layerWith({
    payments,
    paymentProvider: StripeProvider.layer({
      secretKey: Redacted.make(secretKey),
      webhookSecrets: [Redacted.make(webhookSecret)],
      apiBase: stripe.origin,
      retries: 0
    })
  })
  const context = yield* Layer.build(layer)
  const send = yield* Effect.provideContext(
    Host.start({ adminToken: Redacted.make(token), ...options }),
    context
  )
  const operator = (method: string, path: string, body?: unknown) =>
    send(method, `/admin/v1${path}`, { key: token, body })
  const { id } = idOf((yield* operator("POST", "/accounts", { email: "ada@example.com" })).json)
  const open = (body: object = {}, account = id) =>
    operator("POST", `/accounts/${account}/wallet/checkouts`, { amount_usd_cents: 2_000, ...returnUrls, ...body })
  return {
    account: id,
    stripe,
    send,
    operator,
    open,
    list: (query = "") => operator("GET", `/accounts/${id}/wallet/checkouts${query}`),
    balance: Effect.map(operator("GET", `/accounts/${id}`), ({ json }) => balanceOf(json))
  }
})

const balanceOf = (json: unknown) =>
  Schema.decodeUnknownSync(Schema.Struct({ balance_usd_cents: Schema.Number }))(json).balance_usd_cents

/** Signs a webhook at the time of the clock. */
const signed = Effect.fnUntraced(function*(body: string, secret = webhookSecret) {
  const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
  const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp })
  return { body: new TextEncoder().encode(body), headers: { "stripe-signature": header } }
})

it.effect("opens a checkout, and credits it once when Stripe reports that it was paid", () =>
  Effect.gen(function*() {
    const { account, balance, list, open, operator, send, stripe } = yield* start()
    const opened = yield* open()
    assert.strictEqual(opened.status, 201, opened.text)
    const { id, provider_reference: reference, url } = checkoutOf(opened.json)
    const session = stripe.sessions.get(reference)
    assert.deepInclude(session, { url, amount_total: 2_000, client_reference_id: account, ...returnUrls })
    const shown = {
      id,
      status: "open",
      amount_usd_cents: 2_000,
      credited: false,
      provider: "stripe",
      provider_reference: reference,
      created_at: DateTime.formatIso(Host.startedAt),
      expires_at: DateTime.formatIso(DateTime.add(Host.startedAt, { hours: 24 })),
      settled_at: null
    }
    assert.deepStrictEqual(opened.json, { ...shown, url })
    assert.deepStrictEqual((yield* list()).json, { data: [shown], next_cursor: null })

    yield* TestClock.adjust("1 minute")
    const body = eventOf("checkout.session.completed", stripe.change(reference, paid))
    for (let times = 0; times < 2; times++) {
      const answer = yield* send("POST", "/webhooks/stripe", yield* signed(body))
      assert.deepStrictEqual([answer.status, answer.text], [200, ""])
    }
    assert.strictEqual(yield* balance, 2_000)
    const settledAt = DateTime.formatIso(DateTime.add(Host.startedAt, { minutes: 1 }))
    assert.deepStrictEqual((yield* list()).json, {
      data: [{ ...shown, status: "paid", credited: true, settled_at: settledAt }],
      next_cursor: null
    })
    const movements = yield* operator("GET", `/accounts/${account}/movements`)
    assert.include(movements.text, `"reference":"stripe:${reference}"`)

    const audit = yield* operator("GET", "/audit?action=wallet.openCheckout")
    assert.include(audit.text, `"subject":"${account}"`)
    assert.include(audit.text, `{"payment":"${id}","amount_usd_cents":2000}`)
    assert.notInclude(audit.text, "shop.test")
  }).pipe(Effect.scoped))

it.effect("lists payments page by page", () =>
  Effect.gen(function*() {
    const { list, open } = yield* start()
    const ids: Array<string> = []
    for (let index = 0; index < 3; index++) {
      ids.unshift(checkoutOf((yield* open()).json).id)
      yield* TestClock.adjust("1 second")
    }
    const first = yield* list("?limit=2")
    assert.deepInclude(first.json, { next_cursor: ids[1] })
    const second = yield* list(`?limit=2&cursor=${ids[1]}`)
    assert.include(second.text, ids[2]!)
    assert.deepInclude(second.json, { next_cursor: null })
    for (const query of ["?cursor=pay_x", "?limit=0", "?limit=101"]) errorOf(yield* list(query), "invalid_params")
  }).pipe(Effect.scoped))

it.effect("rejects checkouts of unknown and deleted accounts, wrong amounts and URLs, and too many", () =>
  Effect.gen(function*() {
    const { account, open, operator } = yield* start({}, { openMax: 2 })
    errorOf(yield* open({}, "acct_00000000000000000000000000"), "not_found")
    errorOf(yield* open({}, "nobody"), "not_found")
    const wrong: ReadonlyArray<readonly [object, string]> = [
      [{ amount_usd_cents: 99 }, "amount_usd_cents"],
      [{ amount_usd_cents: 1_000_001 }, "amount_usd_cents"],
      [{ amount_usd_cents: 100.5 }, "amount_usd_cents"],
      [{ success_url: "shop.test" }, "success_url"],
      [{ cancel_url: "javascript:alert(1)" }, "cancel_url"],
      [{ cancel_url: `https://shop.test/${"a".repeat(2_000)}` }, "cancel_url"],
      [{ currency: "eur" }, "currency"]
    ]
    for (const [body, path] of wrong) {
      assert.include(JSON.stringify(errorOf(yield* open(body), "invalid_request").details), `"path":"${path}"`)
    }
    for (let index = 0; index < 2; index++) assert.strictEqual((yield* open()).status, 201)
    assert.deepStrictEqual(errorOf(yield* open(), "too_many_payments").details, { open_max: 2 })
    yield* operator("DELETE", `/accounts/${account}`)
    errorOf(yield* open(), "account_deleted")
  }).pipe(Effect.scoped))

it.effect("responds with the reason if Stripe rejects a checkout, and with 503 if it does not respond", () =>
  Effect.gen(function*() {
    const { list, open, stripe } = yield* start()
    const rejected = yield* open({ success_url: "https://[" })
    assert.strictEqual(rejected.status, 502)
    assert.include(JSON.stringify(errorOf(rejected, "payment_rejected").details), "Not a valid URL: success_url")
    stripe.next("POST /v1/checkout", drops)
    stripe.next("POST /v1/checkout", drops)
    const unavailable = yield* open()
    assert.include(errorOf(unavailable, "unavailable").message, "payment provider")
    const { text } = yield* list()
    assert.strictEqual(text.split("\"failed\"").length, 3, text)
  }).pipe(Effect.scoped))

it.effect("has neither checkouts nor the receiver of webhooks if Stripe is not configured", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ adminToken: Redacted.make(token) })
    const { account } = yield* Host.openAccount()
    const path = `/admin/v1/accounts/${account.id}/wallet/checkouts`
    const opened = yield* send("POST", path, { key: token, body: { amount_usd_cents: 2_000, ...returnUrls } })
    errorOf(opened, "payments_disabled")
    assert.deepStrictEqual((yield* send("GET", path, { key: token })).json, { data: [], next_cursor: null })
    const answer = yield* send("POST", "/webhooks/stripe", yield* signed("{}"))
    const unknown = yield* send("POST", "/webhooks/nothing", yield* signed("{}"))
    assert.deepStrictEqual(errorOf(answer, "not_found"), errorOf(unknown, "not_found"))
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects webhooks that are not signed, and limits them like failed authentications", () =>
  Effect.gen(function*() {
    const { balance, open, send, stripe } = yield* start({ failedAuthenticationsPerMinute: 3 })
    const { provider_reference: reference } = checkoutOf((yield* open()).json)
    const body = eventOf("checkout.session.completed", stripe.change(reference, paid))
    const path = "/webhooks/stripe"
    const valid = yield* signed(body)
    yield* TestClock.adjust("301 seconds")
    const forged = yield* signed(body, "whsec_of_another")
    const { headers } = yield* signed(body)
    const wrong = [{ body }, forged, { ...(yield* signed(`${body} `)), headers }, valid]
    for (const [index, sent] of wrong.entries()) {
      errorOf(yield* send("POST", path, sent), index < 3 ? "invalid_request" : "rate_limited")
    }
    assert.strictEqual(yield* balance, 0)
    // Valid webhooks are accepted from the same address.
    assert.strictEqual((yield* send("POST", path, yield* signed(body))).status, 200)
    assert.strictEqual(yield* balance, 2_000)
  }).pipe(Effect.scoped))

it.effect("accepts only POST with a body of at most 256 KiB, on the exact path", () =>
  Effect.gen(function*() {
    const { send } = yield* start()
    const large = (bytes: number) => signed(eventOf("charge.updated", { text: "x".repeat(bytes) }))
    assert.strictEqual((yield* send("POST", "/webhooks/stripe", yield* large(200 * 1024))).status, 200)
    const tooLarge = yield* large(256 * 1024)
    errorOf(yield* send("POST", "/webhooks/stripe", tooLarge), "payload_too_large")
    const stream = new Blob([tooLarge.body]).stream()
    errorOf(yield* send("POST", "/webhooks/stripe", { ...tooLarge, body: stream }), "payload_too_large")
    for (const method of ["GET", "PUT", "DELETE"]) errorOf(yield* send(method, "/webhooks/stripe"), "not_found")
    for (const path of ["/webhooks/stripe/", "/webhooks/Stripe", "/webhooks//stripe", "/webhooks"]) {
      errorOf(yield* send("POST", path, yield* large(1)), "not_found")
    }
  }).pipe(Effect.scoped))

it.effect("ignores checkouts of other programs, and rejects events that it cannot read", () =>
  Effect.gen(function*() {
    const { open, send, stripe } = yield* start()
    const { provider_reference: reference } = checkoutOf((yield* open()).json)
    const session = stripe.change(reference, paid)
    for (const other of [{ ...session, metadata: {} }, { ...session, id: "cs_test_other" }]) {
      const body = yield* signed(eventOf("checkout.session.completed", other))
      assert.strictEqual((yield* send("POST", "/webhooks/stripe", body)).status, 200)
    }
    const unreadable = yield* signed(eventOf("checkout.session.completed", { id: 1 }))
    assert.strictEqual((yield* send("POST", "/webhooks/stripe", unreadable)).status, 400)
  }).pipe(Effect.scoped))

it.effect("responds with 503 if the database fails, so that Stripe sends the webhook again", () =>
  Effect.gen(function*() {
    const failing = Layer.mock(Checkouts.Checkouts)({
      isEnabled: true,
      receive: () => new StorageError({ operation: "test", reason: "unavailable", cause: undefined })
    })
    const send = yield* Effect.provide(Host.start(), failing)
    errorOf(yield* send("POST", "/webhooks/stripe", yield* signed("{}")), "unavailable")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("writes neither keys nor addresses of checkouts to the log", () => {
  const written: Array<string> = []
  const logger = Logger.make((entry) => {
    written.push(inspect([entry.message, entry.cause], { depth: 12 }))
  })
  return Effect.gen(function*() {
    const { open, send, stripe } = yield* start()
    const { provider_reference: reference, url } = checkoutOf((yield* open()).json)
    yield* open({ success_url: "https://[" })
    const body = eventOf("checkout.session.completed", stripe.change(reference, { ...paid, amount_total: 1 }))
    yield* send("POST", "/webhooks/stripe", yield* signed(body))
    yield* send("POST", "/webhooks/stripe", yield* signed(eventOf("checkout.session.completed", { id: 1 })))
    const text = written.join("\n")
    assert.include(text, "An operator opened a checkout")
    assert.include(text, "A payment differs from what was asked for")
    for (const secret of [secretKey, webhookSecret, url, "v1=", "shop.test"]) assert.notInclude(text, secret)
  }).pipe(Effect.scoped, Effect.provide(Logger.layer([logger])))
})
