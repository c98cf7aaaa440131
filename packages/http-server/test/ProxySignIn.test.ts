import { assert, it } from "@effect/vitest"
import { AuditLog } from "@kinora/operators"
import { Members } from "@kinora/sessions"
import { Effect, Schema } from "effect"
import { IpNetwork } from "effect/net"
import * as Browsers from "./Browsers.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const { samePage, session } = Browsers

const proxy = "10.0.0.2"
const options = {
  proxyUserHeader: "x-forwarded-email",
  trustedProxies: [IpNetwork.fromStringUnsafe("10.0.0.0/8")]
}

const through = (email: string, more: Readonly<Record<string, string>> = {}): Host.Sent => ({
  from: proxy,
  headers: {
    ...samePage,
    "x-forwarded-for": "192.0.2.7",
    "x-forwarded-proto": "https",
    "x-forwarded-email": email,
    ...more
  }
})

const userOf = (answer: Host.Answer) =>
  Schema.decodeUnknownSync(Schema.Struct({ proxy_user: Schema.NullOr(Schema.String), providers: Schema.Unknown }))(
    answer.json
  ).proxy_user

it.effect("signs in the person whom a trusted proxy names, as a member of the account", () =>
  Effect.gen(function*() {
    const send = yield* Host.start(options)
    const [audit, members] = [yield* AuditLog.AuditLog, yield* Members.Members]
    const { account } = yield* Host.openAccount({ email: "ada@example.com" })
    assert.strictEqual(userOf(yield* send("GET", "/console/v1/sign-in", through("Ada@example.com"))), "Ada@example.com")
    const answer = yield* send("POST", session, { ...through("Ada@example.com"), body: { proxy: true } })
    assert.strictEqual(answer.status, 204, answer.text)
    const page = Browsers.pageOf(send, Browsers.cookieOf(answer))
    const shown = Browsers.sessionOf((yield* page("GET", session)).json)
    assert.deepInclude(shown, { scope: "account", role: "member", name: "Ada@example.com" })
    const [member] = yield* members.list(account.id)
    assert.deepInclude(member, { issuer: "proxy", subject: "ada@example.com", email: "Ada@example.com" })
    const [entry] = yield* audit.list({ limit: 1 })
    assert.deepInclude(entry, {
      actor: member!.id,
      address: "192.0.2.7",
      action: "session.signIn",
      after: { scope: "account", by: "proxy" }
    })
    // The session is one like others: the header is not needed any more, and removing the member ends it.
    assert.strictEqual((yield* page("GET", "/v1/models")).status, 200)
    yield* members.remove(account.id, member!.id)
    errorOf(yield* page("GET", "/v1/models"), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("ignores the header from all other addresses, also from a client that a proxy has forwarded", () =>
  Effect.gen(function*() {
    const send = yield* Host.start(options)
    yield* Host.openAccount({ email: "ada@example.com" })
    for (const from of ["192.0.2.7", "11.0.0.2", "::1", "::ffff:192.0.2.7"]) {
      const sent = { ...through("ada@example.com", { "x-forwarded-for": proxy }), from }
      assert.isNull(userOf(yield* send("GET", "/console/v1/sign-in", sent)))
      errorOf(yield* send("POST", session, { ...sent, body: { proxy: true } }), "unauthorized")
    }
    const mapped = { ...through("ada@example.com"), from: `::ffff:${proxy}` }
    assert.strictEqual(userOf(yield* send("GET", "/console/v1/sign-in", mapped)), "ada@example.com")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("ignores the header unless it is configured, with the proxies that may send it", () =>
  Effect.gen(function*() {
    yield* Host.openAccount({ email: "ada@example.com" })
    for (const others of [{ proxyUserHeader: undefined }, { proxyUserHeader: "x-user" }, { trustedProxies: [] }]) {
      const send = yield* Host.start({ ...options, ...others })
      assert.isNull(userOf(yield* send("GET", "/console/v1/sign-in", through("ada@example.com"))))
      errorOf(yield* send("POST", session, { ...through("ada@example.com"), body: { proxy: true } }), "unauthorized")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects a header that is sent twice, or that is not an e-mail address", () =>
  Effect.gen(function*() {
    const send = yield* Host.start(options)
    yield* Host.openAccount({ email: "ada@example.com" })
    for (const value of ["", "ada", "eve@example.com, ada@example.com", "ada@example.com,eve@example.com", "a b@c"]) {
      errorOf(yield* send("POST", session, { ...through(value), body: { proxy: true } }), "unauthorized")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects a person without an account, and a page of another site", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ ...options, failedAuthenticationsPerMinute: 2 })
    const attempt = (headers = {}) =>
      send("POST", session, { ...through("eve@example.com", headers), body: { proxy: true } })
    errorOf(yield* attempt({ "sec-fetch-site": "cross-site" }), "cross_origin")
    const { details, message } = errorOf(yield* attempt(), "no_account")
    assert.deepStrictEqual(details, { email: "eve@example.com" })
    assert.strictEqual(message, "No account for eve@example.com. Ask your operator for access.")
    errorOf(yield* attempt(), "no_account")
    errorOf(yield* attempt(), "rate_limited")
    for (const body of [{ proxy: false }, { proxy: true, code: "x" }]) {
      errorOf(yield* send("POST", session, { ...through("eve@example.com"), body }), "invalid_request")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
