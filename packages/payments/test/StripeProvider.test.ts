import { assert, it } from "@effect/vitest"
import { drops, responds, type Scripted } from "@kinora/testkit/upstreams/ScriptedServer"
import { eventOf, paid, secretKey, stripeApi } from "@kinora/testkit/upstreams/StripeServer"
import { Clock, Context, DateTime, Deferred, Duration, Effect, Fiber, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import { Stripe } from "stripe"
import { PaymentId } from "../src/Payment.ts"
import { PaymentProvider } from "../src/PaymentProvider.ts"
import * as StripeProvider from "../src/StripeProvider.ts"

const payment = PaymentId.fromUuid("01990000-0000-7000-8000-000000000001")
const webhookSecrets = [Redacted.make("whsec_first"), Redacted.make("whsec_second")]

const start = Effect.fnUntraced(function*(options: Partial<StripeProvider.StripeOptions> = {}) {
  const server = yield* stripeApi()
  const layer = StripeProvider.layer({
    secretKey: Redacted.make(secretKey),
    webhookSecrets,
    apiBase: server.origin,
    ...options
  })
  return { server, provider: Context.get(yield* Layer.build(layer), PaymentProvider) }
})

const checkout = {
  payment,
  account: "acct_1",
  cents: 2_000,
  successUrl: "https://shop.test/done?a=1&b=2",
  cancelUrl: "https://shop.test/back"
}
const sessions = "/v1/checkout/sessions"

/** Runs a call whose pauses between requests pass at once. Its deadline never passes. */
const withoutPauses = Effect.updateService(Clock.Clock, (clock): Clock.Clock => ({
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
  currentTimeMillis: clock.currentTimeMillis,
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
  currentTimeNanos: clock.currentTimeNanos,
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: clock.monotonicTimeNanos,
  sleep: (duration) => Duration.isLessThan(duration, Duration.seconds(10)) ? Effect.void : Effect.never
}))

it.effect("opens a checkout with the payment, the account and the amount", () =>
  Effect.gen(function*() {
    const { provider, server } = yield* start()
    const opened = yield* provider.open(checkout)
    const [request] = server.requests
    assert.strictEqual(request?.headers["idempotency-key"], payment)
    const session = server.sessions.get(opened.reference)
    assert.strictEqual(opened.url, session?.url)
    assert.deepStrictEqual(opened.expiresAt, DateTime.makeUnsafe(86_400_000))
    assert.strictEqual(session?.amount_total, 2_000)
    assert.strictEqual(session?.currency, "usd")
    assert.strictEqual(session?.client_reference_id, "acct_1")
    assert.deepStrictEqual(session?.metadata, { kinora_payment: payment })
    assert.strictEqual(session?.success_url, checkout.successUrl)
    assert.strictEqual(session?.cancel_url, checkout.cancelUrl)
  }))

it.effect("opens one checkout per payment, however often it is called", () =>
  Effect.gen(function*() {
    const { provider, server } = yield* start()
    const first = yield* provider.open(checkout)
    assert.deepStrictEqual(yield* provider.open(checkout), first)
    assert.strictEqual(server.sessions.size, 1)
  }))

for (
  const [name, handle] of [
    ["status 500", responds(500)],
    ["status 429", responds(429)],
    ["status 409", responds(409)],
    ["a dropped connection", drops],
    ["a response that is not JSON", (_, response) => void response.writeHead(502).end("<html>")]
  ] as ReadonlyArray<readonly [string, Parameters<Scripted["next"]>[1]]>
) {
  it.effect(`repeats a request after ${name}, with the same idempotency key`, () =>
    Effect.gen(function*() {
      const { provider, server } = yield* start()
      server.next(`POST ${sessions}`, handle)
      server.next(`POST ${sessions}`, handle)
      const { reference } = yield* withoutPauses(provider.open(checkout))
      assert.deepStrictEqual(Array.from(server.sessions.keys()), [reference])
      assert.deepStrictEqual(
        new Set(server.requests.map(({ headers }) => headers["idempotency-key"])),
        new Set([payment])
      )
    }))
}

it.effect("repeats a request whose response was lost, and gets the same checkout", () =>
  Effect.gen(function*() {
    const { provider, server } = yield* start()
    const opened = yield* provider.open(checkout)
    server.next(`POST ${sessions}`, drops)
    assert.deepStrictEqual(yield* withoutPauses(provider.open(checkout)), opened)
    assert.strictEqual(server.sessions.size, 1)
  }))

it.effect("gives up after the third attempt", () =>
  Effect.gen(function*() {
    const { provider, server } = yield* start()
    for (let index = 0; index < 4; index++) server.next(`POST ${sessions}`, responds(503))
    const error = yield* withoutPauses(Effect.flip(provider.open(checkout)))
    assert.strictEqual(error._tag, "ProviderUnavailable")
    assert.strictEqual(server.requests.length, 3)
  }))

it.effect("gives up at the deadline if the server does not respond, and ends the request", () =>
  Effect.gen(function*() {
    const { provider, server } = yield* start()
    const [arrived, closed] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    server.next(`POST ${sessions}`, (_, response) => {
      Deferred.doneUnsafe(arrived, Effect.void)
      response.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
    })
    const fiber = yield* Effect.forkChild(Effect.flip(provider.open(checkout)))
    yield* Deferred.await(arrived)
    yield* TestClock.adjust("25 seconds")
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "ProviderUnavailable")
    yield* Deferred.await(closed)
  }))

it.effect("does not repeat a request that the server rejects, and shows why", () =>
  Effect.gen(function*() {
    const { provider, server } = yield* start()
    const error = yield* Effect.flip(provider.open({ ...checkout, successUrl: "nowhere" }))
    assert.strictEqual(error._tag, "ProviderRejected")
    assert.include(error.message, "Not a valid URL: success_url (status 400, req_1)")
    assert.strictEqual(server.requests.length, 1)
  }))

it.effect("shows no key in errors", () =>
  Effect.gen(function*() {
    const wrong = "sk_test_wrongSecretKeyThatMustNotShow"
    const { provider } = yield* start({ secretKey: Redacted.make(wrong) })
    const error = yield* Effect.flip(provider.open(checkout))
    assert.strictEqual(error._tag, "ProviderRejected")
    assert.include(error.message, "Invalid API Key provided: Bearer <redacted>")
    assert.notInclude(inspect(error, { depth: 9, showHidden: true }), wrong)
  }))

it.effect("fails if a response is not as documented", () =>
  Effect.gen(function*() {
    const { provider, server } = yield* start()
    server.next(`POST ${sessions}`, responds(200, {}, { id: "cs_test_1", object: "checkout.session" }))
    const error = yield* Effect.flip(provider.open(checkout))
    assert.include(error.message, "its response is not as documented")
  }))

it.effect("follows no redirect with its key", () =>
  Effect.gen(function*() {
    const { provider, server } = yield* start({ retries: 0 })
    const other = yield* stripeApi()
    server.next(`POST ${sessions}`, responds(307, { location: `${other.origin}${sessions}` }))
    assert.strictEqual((yield* Effect.flip(provider.open(checkout)))._tag, "ProviderUnavailable")
    assert.strictEqual(other.requests.length, 0)
  }))

it.effect("reads the outcome of a checkout", () =>
  Effect.gen(function*() {
    const { provider, server } = yield* start()
    const { reference } = yield* provider.open(checkout)
    const stateAfter = (changes: Parameters<typeof server.change>[1]) => {
      server.change(reference, changes)
      return Effect.map(provider.read(reference), (state) => state._tag === "Ended" ? state.outcome.status : state._tag)
    }
    assert.strictEqual(yield* stateAfter({}), "Open")
    assert.strictEqual(
      yield* stateAfter({ status: "complete", payment_intent: { id: "pi_1", status: "processing" } }),
      "Open"
    )
    for (const status of ["requires_payment_method", "canceled"]) {
      assert.strictEqual(yield* stateAfter({ payment_intent: { id: "pi_1", status } }), "failed")
    }
    assert.strictEqual(yield* stateAfter({ status: "expired", payment_intent: null }), "expired")
    assert.strictEqual(yield* stateAfter(paid), "paid")
    assert.deepStrictEqual(yield* provider.read(reference), {
      _tag: "Ended",
      outcome: { reference, payment, status: "paid" as const, amount: 2_000, currency: "usd" }
    })
    assert.deepStrictEqual(yield* provider.read("cs_test_other"), { _tag: "Unknown" })
  }))

const signed = (body: string, secret: string, timestamp = 0) =>
  Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp })

const bytes = (text: string) => new TextEncoder().encode(text)

const session = {
  id: "cs_test_1",
  object: "checkout.session",
  status: "complete",
  payment_status: "paid",
  amount_total: 2_000,
  currency: "usd",
  metadata: { kinora_payment: payment }
}

it.effect("accepts a webhook that one of the secrets signed, for 300 seconds", () =>
  Effect.gen(function*() {
    const { provider } = yield* start()
    const body = eventOf("checkout.session.completed", session)
    const outcome = { reference: "cs_test_1", payment, status: "paid" as const, amount: 2_000, currency: "usd" }
    for (const secret of webhookSecrets) {
      const header = signed(body, Redacted.value(secret), 1)
      assert.deepStrictEqual(yield* provider.verify(bytes(body), header), { _tag: "Ended", outcome })
    }
    const header = signed(body, "whsec_first", 1)
    yield* TestClock.setTime(301_999)
    assert.strictEqual((yield* provider.verify(bytes(body), header))._tag, "Ended")
    yield* TestClock.setTime(302_000)
    assert.strictEqual((yield* Effect.flip(provider.verify(bytes(body), header)))._tag, "SignatureRejected")
  }))

it.effect("rejects a webhook that no secret signed, or that was changed", () =>
  Effect.gen(function*() {
    const { provider } = yield* start()
    const body = eventOf("checkout.session.completed", session)
    const header = signed(body, "whsec_first", 1)
    const v1 = header.slice(header.indexOf("v1="))
    const attempts: ReadonlyArray<readonly [string, string]> = [
      [body, ""],
      [body, "t=1"],
      [body, v1],
      [body, `t=2,${v1}`],
      [body, header.replace("v1=", "v0=")],
      [body, signed(body, "whsec_other", 1)],
      [`${body} `, header],
      [body.replace("2000", "2001"), header],
      ["", header]
    ]
    for (const [text, signature] of attempts) {
      assert.strictEqual(
        (yield* Effect.flip(provider.verify(bytes(text), signature)))._tag,
        "SignatureRejected",
        `${text} ${signature}`
      )
    }
  }))

it.effect("reads the events that end a checkout, and ignores others", () =>
  Effect.gen(function*() {
    const { provider } = yield* start()
    const read = (type: string, object: unknown) => {
      const body = eventOf(type, object)
      return Effect.map(
        provider.verify(bytes(body), signed(body, "whsec_first")),
        (event) => event._tag === "Ended" ? event.outcome.status : event._tag
      )
    }
    assert.strictEqual(yield* read("checkout.session.completed", session), "paid")
    assert.strictEqual(yield* read("checkout.session.completed", { ...session, payment_status: "unpaid" }), "Ignored")
    assert.strictEqual(
      yield* read("checkout.session.completed", { ...session, payment_status: "no_payment_required" }),
      "Ignored"
    )
    assert.strictEqual(yield* read("checkout.session.async_payment_succeeded", session), "paid")
    assert.strictEqual(yield* read("checkout.session.async_payment_failed", session), "failed")
    assert.strictEqual(yield* read("checkout.session.expired", { ...session, status: "expired" }), "expired")
    assert.strictEqual(yield* read("payment_intent.succeeded", { id: "pi_1" }), "Ignored")
    const other = { ...session, metadata: null, amount_total: null, currency: null }
    assert.strictEqual(yield* read("checkout.session.completed", other), "paid")
  }))

it.effect("fails if a signed body is not as documented", () =>
  Effect.gen(function*() {
    const { provider } = yield* start()
    for (const body of ["{", "{}", eventOf("checkout.session.completed", { id: "cs_test_1" })]) {
      const error = yield* Effect.flip(provider.verify(bytes(body), signed(body, "whsec_first")))
      assert.strictEqual(error._tag, "EventUnreadable")
    }
  }))
