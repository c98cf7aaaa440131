import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { type AuditEntry, AuditLog, Operators } from "@kinora/operators"
import type { Session } from "@kinora/sessions"
import { DateTime, Effect, Option, Redacted, type Schema } from "effect"
import { IpNetwork } from "effect/net"
import { TestClock } from "effect/testing"
import * as Browsers from "./Browsers.ts"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const { samePage, session } = Browsers
const models = "/v1/models"

it.effect("signs in with a link once, shows the session, and signs out", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account } = yield* Host.openAccount()
    const code = yield* Browsers.codeOf({ scope: "account", account: account.id, role: "member", member: null })
    const { answer, page, token } = yield* Browsers.signIn(send, { code })
    assert.strictEqual(answer.text, "")
    const shown = Browsers.sessionOf((yield* page("GET", session)).json)
    assert.deepStrictEqual({ ...shown, id: "" }, {
      id: "",
      scope: "account",
      role: "member",
      account: { id: account.id, email: "someone@example.com" },
      name: null,
      created_at: "2026-11-21T12:00:30.000Z",
      expires_at: "2026-11-28T12:00:30.000Z",
      idle_expires_at: "2026-11-22T00:00:30.000Z"
    })
    errorOf(yield* send("POST", session, { headers: samePage, body: { code } }), "invalid_code")
    assert.strictEqual((yield* page("GET", models)).status, 200)
    const out = yield* page("DELETE", session)
    assert.strictEqual(out.status, 204)
    assert.strictEqual(out.headers["clear-site-data"], "\"cache\"")
    assert.strictEqual(
      out.headers["set-cookie"],
      "__Host-kinora=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict; Secure"
    )
    // The token does not work again if a browser or an attacker has kept it.
    errorOf(yield* Browsers.pageOf(send, token)("GET", models), "unauthorized")
    assert.isNull((yield* page("GET", session)).json)
    assert.strictEqual((yield* page("DELETE", session)).status, 204)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("signs in with an API key, whose rights and expiry the session has", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account } = yield* Host.openAccount()
    const accounts = yield* Accounts.Accounts
    const expiresAt = DateTime.add(Host.startedAt, { hours: 1 })
    const { key } = yield* accounts.createKey(account.id, "laptop", {
      expiresAt: yield* Effect.succeedSome(expiresAt),
      scopes: Option.some(["read"])
    })
    const { answer, page } = yield* Browsers.signIn(send, { api_key: Redacted.value(key) })
    assert.include(answer.headers["set-cookie"], "Expires=Sat, 21 Nov 2026 13:00:30 GMT")
    const shown = Browsers.sessionOf((yield* page("GET", session)).json)
    assert.deepInclude(shown, { scope: "key", role: "member", name: "laptop" })
    assert.strictEqual((yield* page("GET", models)).status, 200)
    assert.deepStrictEqual(errorOf(yield* page("GET", "/v1/account"), "scope_missing").details, {
      scope: "account:read"
    })
    const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
    errorOf(yield* page("POST", "/v1/generations", { body }), "scope_missing")
    yield* TestClock.adjust("1 hour")
    errorOf(yield* page("GET", models), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects the sign-in with a key that does not work, from this address or at all", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account } = yield* Host.openAccount()
    const accounts = yield* Accounts.Accounts
    const post = (api_key: string) => send("POST", session, { headers: samePage, body: { api_key } })
    errorOf(yield* post("kin_wrong"), "unauthorized")
    const network = IpNetwork.fromStringUnsafe("192.0.2.0/24")
    const bound = yield* accounts.createKey(account.id, "bound", { networks: Option.some([network]) })
    errorOf(yield* post(Redacted.value(bound.key)), "address_not_allowed")
    const { key, record } = yield* accounts.createKey(account.id, "revoked")
    yield* accounts.revokeKey(account.id, record.id)
    errorOf(yield* post(Redacted.value(key)), "unauthorized")
    for (const body of [{}, { code: "" }, { code: "x", more: 1 }, { code: 1 }, []]) {
      errorOf(yield* send("POST", session, { headers: samePage, body }), "invalid_request")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("starts one session if a code is used twice at the same time", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account } = yield* Host.openAccount()
    const code = yield* Browsers.codeOf({ scope: "account", account: account.id, role: "member", member: null })
    const answers = yield* Effect.all(
      Array.from({ length: 8 }, () => send("POST", session, { headers: samePage, body: { code } })),
      { concurrency: "unbounded" }
    )
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted((a, b) => a - b), [204, ...Array(7).fill(401)])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("counts failed sign-ins of an address, also those with other kinds of credentials", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ failedAuthenticationsPerMinute: 3 })
    const { account } = yield* Host.openAccount()
    const grant: Session.Grant = { scope: "account", account: account.id, role: "member", member: null }
    const code = yield* Browsers.codeOf(grant)
    const first = yield* send("POST", session, { headers: samePage, body: { code: "0".repeat(64) } })
    errorOf(first, "invalid_code")
    assert.strictEqual(limitOf(first).remaining, 2)
    errorOf(yield* send("POST", session, { headers: samePage, body: { api_key: "kin_wrong" } }), "unauthorized")
    errorOf(yield* send("GET", models, { key: "kin_wrong" }), "unauthorized")
    const refused = yield* send("POST", session, { headers: samePage, body: { code: "x" } })
    assert.deepStrictEqual(errorOf(refused, "rate_limited").details, { scope: "auth" })
    assert.strictEqual(refused.headers["retry-after"], "30")
    yield* Browsers.signIn(send, { code })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("sets a cookie that scripts and other sites cannot use, named by the scheme and the port", () =>
  Effect.gen(function*() {
    const { account } = yield* Host.openAccount()
    const cookieWith = Effect.fnUntraced(function*(
      options: Parameters<typeof Host.start>[0],
      headers: Readonly<Record<string, string>> = {}
    ) {
      const send = yield* Host.start(options)
      const code = yield* Browsers.codeOf({ scope: "account", account: account.id, role: "member", member: null })
      const { headers: { "set-cookie": cookie = "" } } = yield* send("POST", session, {
        headers: { ...samePage, host: "127.0.0.1:8080", ...headers },
        body: { code }
      })
      return cookie.replace(/[0-9a-f]{64}/, "TOKEN")
    })
    const rest = "Expires=Sat, 28 Nov 2026 12:00:30 GMT; Path=/; HttpOnly; SameSite=Strict"
    assert.strictEqual(yield* cookieWith({}), `__Host-kinora=TOKEN; ${rest}; Secure`)
    assert.strictEqual(yield* cookieWith({ baseUrl: undefined }), `kinora_8080=TOKEN; ${rest}`)
    assert.strictEqual(yield* cookieWith({ baseUrl: "http://media.example.com" }), `kinora_80=TOKEN; ${rest}`)
    const proxied = {
      "x-forwarded-for": "192.0.2.7",
      "x-forwarded-proto": "https",
      "x-forwarded-host": "media.example.com"
    }
    const trustedProxies = [IpNetwork.fromStringUnsafe("203.0.113.0/24")]
    assert.strictEqual(
      yield* cookieWith({ baseUrl: undefined, trustedProxies }, proxied),
      `__Host-kinora=TOKEN; ${rest}; Secure`
    )
    assert.strictEqual(yield* cookieWith({ baseUrl: undefined }, proxied), `kinora_8080=TOKEN; ${rest}`)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("never adopts a token that was planted before a sign-in, and ends the session that it replaces", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account } = yield* Host.openAccount()
    const grant: Session.Grant = { scope: "account", account: account.id, role: "member", member: null }
    const planted = "f".repeat(64)
    const first = yield* Browsers.pageOf(send, planted)("POST", session, {
      body: { code: yield* Browsers.codeOf(grant) }
    })
    const token = Browsers.cookieOf(first)
    assert.notStrictEqual(token, planted)
    errorOf(yield* Browsers.pageOf(send, planted)("GET", models), "unauthorized")
    const second = yield* Browsers.pageOf(send, token)("POST", session, {
      body: { code: yield* Browsers.codeOf(grant) }
    })
    errorOf(yield* Browsers.pageOf(send, token)("GET", models), "unauthorized")
    assert.strictEqual((yield* Browsers.pageOf(send, Browsers.cookieOf(second))("GET", models)).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("records the sign-ins and sign-outs of operators, of links and of keys", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ adminToken: Redacted.make("the token of the operators of this service") })
    const { account, key, keyId } = yield* Host.openAccount()
    const operators = yield* Operators.Operators
    const audit = yield* AuditLog.AuditLog
    const { operator } = yield* operators.create({ name: "Ada", role: "support" })
    const visit = Effect.fnUntraced(function*(body: object) {
      const { page } = yield* Browsers.signIn(send, body)
      const shown = Browsers.sessionOf((yield* page("GET", session)).json)
      yield* TestClock.adjust("1 second")
      yield* page("DELETE", session)
      yield* TestClock.adjust("1 second")
      return shown
    })
    const link: Session.Grant = { scope: "account", account: account.id, role: "viewer", member: null }
    const ofLink = yield* visit({ code: yield* Browsers.codeOf(link) })
    const ofKey = yield* visit({ api_key: Redacted.value(key) })
    const { id, ...shown } = yield* visit({
      code: yield* Browsers.codeOf({ scope: "operator", operator: operator.id, role: "support" })
    })
    assert.deepInclude(shown, { scope: "operator", role: "support", account: null, name: "Ada" })
    const entries = yield* audit.list({ limit: 10 })
    const address = "203.0.113.9"
    const both = (subject: string, actor: string, role: AuditEntry.AuditRole, after: Schema.Json) => [
      { action: "session.signOut", actor, address, role, subject, after: null },
      { action: "session.signIn", actor, address, role, subject, after }
    ]
    assert.deepStrictEqual(
      entries.map(({ action, actor, address, after, role, subject }) => ({
        action,
        actor,
        address,
        role,
        subject,
        after
      })),
      [
        ...both(id, operator.id, "support", { scope: "operator", by: "link" }),
        ...both(ofKey.id, keyId, "member", { scope: "key", by: "key" }),
        ...both(ofLink.id, account.id, "viewer", { scope: "account", by: "link" })
      ]
    )
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("leaves the code of an account that was suspended meanwhile unused", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account } = yield* Host.openAccount()
    const accounts = yield* Accounts.Accounts
    const code = yield* Browsers.codeOf({ scope: "account", account: account.id, role: "member", member: null })
    yield* accounts.suspend(account.id)
    errorOf(yield* send("POST", session, { headers: samePage, body: { code } }), "invalid_code")
    yield* accounts.resume(account.id)
    yield* Browsers.signIn(send, { code })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
