import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { AuditLog } from "@kinora/operators"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Browsers from "./Browsers.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"
import * as Provider from "./Provider.ts"

const { session } = Browsers
const { ada } = Provider

it.effect("signs a person in to the account with the same verified address, and opens the page", () =>
  Effect.gen(function*() {
    const team = Provider.make("team")
    const send = yield* Provider.start([team])
    const { account } = yield* Host.openAccount({ email: "Ada@Example.com" })
    const { answer, cookie, state, url } = yield* Provider.begin(
      send,
      "team",
      "?return_to=%2Fconsole%2Fjobs%3Fstatus%3Dfailed"
    )
    assert.strictEqual(
      url.searchParams.get("redirect_uri"),
      "https://api.example.com/console/v1/sign-in/oidc/team/callback"
    )
    assert.deepStrictEqual(answer.cookies, [
      `${Provider.pendingName}=${cookie}; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=Lax`
    ])
    assert.strictEqual(answer.headers["cache-control"], "no-store")
    assert.strictEqual(answer.headers["referrer-policy"], "no-referrer")

    const returned = yield* Provider.comeBack(send, "team", { code: team.arrive(ada), cookie, state })
    assert.strictEqual(returned.headers["location"], "/console/jobs?status=failed")
    assert.strictEqual(Provider.cookieIn(returned, Provider.pendingName), "")
    assert.match(
      returned.cookies[0] ?? "",
      /^__Host-kinora=[0-9a-f]{64}; Expires=.*; HttpOnly; SameSite=Strict; Secure/
    )
    const page = Provider.pageAfter(send, returned)
    const shown = Browsers.sessionOf((yield* page("GET", session)).json)
    assert.deepInclude(shown, {
      scope: "account",
      role: "member",
      account: { id: account.id, email: "Ada@Example.com" },
      name: "ada@example.com"
    })
    assert.strictEqual((yield* page("GET", "/v1/models")).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("lists the providers, and none without a configuration", () =>
  Effect.gen(function*() {
    const [team, partners] = [Provider.make("team"), Provider.make("partners")]
    const send = yield* Provider.start([team, partners])
    assert.deepStrictEqual((yield* send("GET", "/console/v1/sign-in")).json, {
      providers: [
        { id: "team", name: "TEAM", url: "/console/v1/sign-in/oidc/team" },
        { id: "partners", name: "PARTNERS", url: "/console/v1/sign-in/oidc/partners" }
      ],
      proxy_user: null
    })
    const none = yield* Host.start()
    assert.deepStrictEqual((yield* none("GET", "/console/v1/sign-in")).json, { providers: [], proxy_user: null })
    for (const path of [Provider.pathOf("team"), `${Provider.pathOf("team")}/callback?code=1`]) {
      errorOf(yield* none("GET", path), "not_found")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects a response with another state, in another browser, of another provider, or twice", () =>
  Effect.gen(function*() {
    const [team, partners] = [Provider.make("team"), Provider.make("partners")]
    const send = yield* Provider.start([team, partners])
    yield* Host.openAccount({ email: "ada@example.com" })
    const { cookie, state } = yield* Provider.begin(send, "team")
    const other = yield* Provider.begin(send, "team")
    const code = team.arrive(ada)
    for (
      const sent of [
        { code, cookie, state: other.state },
        { code, cookie, state: "" },
        { code, cookie: "", state },
        { code, cookie: other.cookie, state },
        { code, cookie: cookie.replace(/^./, (digit) => digit === "0" ? "1" : "0"), state },
        { code, cookie: "x", state }
      ]
    ) {
      assert.strictEqual(Provider.failureOf(yield* Provider.comeBack(send, "team", sent)), "expired")
    }
    assert.strictEqual(
      Provider.failureOf(yield* Provider.comeBack(send, "partners", { code, cookie, state })),
      "expired"
    )
    // None of them has used the code.
    Provider.pageAfter(send, yield* Provider.comeBack(send, "team", { code, cookie, state }))
    assert.strictEqual(Provider.failureOf(yield* Provider.comeBack(send, "team", { code, cookie, state })), "rejected")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("gives every sign-in another state, nonce and verifier", () =>
  Effect.gen(function*() {
    const team = Provider.make("team")
    const send = yield* Provider.start([team])
    yield* Provider.begin(send, "team")
    yield* Provider.begin(send, "team")
    const values = team.attempts.flatMap(({ nonce, state, verifier }) => [nonce, state, verifier])
    assert.strictEqual(new Set(values).size, 6)
    for (const value of values) assert.match(value, /^[0-9a-f]{64}$/)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects a response after 10 minutes", () =>
  Effect.gen(function*() {
    const team = Provider.make("team")
    const send = yield* Provider.start([team])
    yield* Host.openAccount({ email: "ada@example.com" })
    const [late, inTime] = [yield* Provider.begin(send, "team"), yield* Provider.begin(send, "team")]
    const code = team.arrive(ada)
    yield* TestClock.adjust("599 seconds")
    Provider.pageAfter(send, yield* Provider.comeBack(send, "team", { ...inTime, code }))
    yield* TestClock.adjust("1 second")
    assert.strictEqual(Provider.failureOf(yield* Provider.comeBack(send, "team", { ...late, code })), "expired")
    // The time is a part of the state.
    const [secret, at, ...rest] = late.cookie.split(".")
    const younger = [secret, Number(at) + 60_000, ...rest].join(".")
    assert.strictEqual(
      Provider.failureOf(yield* Provider.comeBack(send, "team", { ...late, code, cookie: younger })),
      "expired"
    )
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("opens only pages of the console afterwards", () =>
  Effect.gen(function*() {
    const team = Provider.make("team")
    const send = yield* Provider.start([team])
    yield* Host.openAccount({ email: "ada@example.com" })
    const pageOf = Effect.fnUntraced(function*(returnTo: string) {
      const { cookie, state } = yield* Provider.begin(send, "team", `?return_to=${encodeURIComponent(returnTo)}`)
      const answer = yield* Provider.comeBack(send, "team", { code: team.arrive(ada), cookie, state })
      return answer.headers["location"]
    })
    for (const path of ["/console/", "/console/jobs/gen_1?tab=code&q=%23a", "/console/v1x"]) {
      assert.strictEqual(yield* pageOf(path), path)
    }
    for (
      const path of [
        "",
        "https://evil.example.com/console/",
        "//evil.example.com/console/",
        "/\\evil.example.com",
        "/console/\\evil.example.com",
        "/console/#code=x",
        "/console/v1/session",
        "/console/v1",
        "/console/v1?x",
        "/v1/models",
        "/consolex/",
        "/console",
        "/console/\r\nset-cookie: a=b",
        `/console/${"a".repeat(512)}`
      ]
    ) {
      assert.strictEqual(yield* pageOf(path), "/console/", path)
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("leads to the sign-in page with the reason of a failure", () =>
  Effect.gen(function*() {
    const team = Provider.make("team")
    const send = yield* Provider.start([team])
    const accounts = yield* Accounts.Accounts
    const { account } = yield* Host.openAccount({ email: "ada@example.com" })
    const failureOf = Effect.fnUntraced(function*(person: Parameters<typeof team.arrive>[0]) {
      const { cookie, state } = yield* Provider.begin(send, "team")
      return Provider.failureOf(yield* Provider.comeBack(send, "team", { code: team.arrive(person), cookie, state }))
    })
    assert.strictEqual(yield* failureOf("denied"), "denied")
    assert.strictEqual(yield* failureOf("unavailable"), "provider_unavailable")
    const grace = { ...ada, subject: "1906", email: "grace@example.com" }
    assert.deepStrictEqual(yield* failureOf(grace), { reason: "no_account", email: "grace@example.com" })
    assert.deepStrictEqual(yield* failureOf({ ...ada, isEmailVerified: false }), {
      reason: "email_not_verified",
      email: "ada@example.com"
    })
    assert.strictEqual(yield* failureOf({ ...ada, email: undefined, isEmailVerified: false }), "email_not_verified")
    yield* accounts.suspend(account.id)
    assert.deepStrictEqual(yield* failureOf(ada), { reason: "no_account", email: "ada@example.com" })
    team.fail(true)
    assert.strictEqual(Provider.failureOf(yield* send("GET", Provider.pathOf("team"))), "provider_unavailable")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("counts failed sign-ins of an address, but no outage of the provider", () =>
  Effect.gen(function*() {
    const team = Provider.make("team")
    const send = yield* Provider.start([team], { failedAuthenticationsPerMinute: 2 })
    yield* Host.openAccount({ email: "ada@example.com" })
    const attempt = (person: Parameters<typeof team.arrive>[0]) =>
      Effect.flatMap(Provider.begin(send, "team"), ({ cookie, state }) =>
        Provider.comeBack(send, "team", { code: team.arrive(person), cookie, state }))
    for (let index = 0; index < 3; index++) {
      yield* attempt("unavailable")
    }
    assert.strictEqual(Provider.failureOf(yield* attempt("denied")), "denied")
    assert.strictEqual(
      Provider.failureOf(yield* Provider.comeBack(send, "team", { code: 0, cookie: "", state: "" })),
      "expired"
    )
    assert.strictEqual(Provider.failureOf(yield* attempt("denied")), "rate_limited")
    // A sign-in that succeeds is never rejected because of the failures of others.
    Provider.pageAfter(send, yield* attempt(ada))
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("records sign-ins, sign-outs and failed sign-ins", () =>
  Effect.gen(function*() {
    const team = Provider.make("team")
    const send = yield* Provider.start([team])
    const audit = yield* AuditLog.AuditLog
    const { account } = yield* Host.openAccount({ email: "ada@example.com" })
    const page = Provider.pageAfter(send, yield* Provider.signIn(send, team, ada))
    const { id } = Browsers.sessionOf((yield* page("GET", session)).json)
    yield* TestClock.adjust("1 second")
    yield* page("DELETE", session, { headers: { "x-request-id": "out" } })
    yield* TestClock.adjust("1 second")
    yield* Provider.signIn(send, team, { ...ada, isEmailVerified: false, subject: "x" })
    yield* TestClock.adjust("1 second")
    yield* send("POST", session, { headers: Browsers.samePage, body: { code: "f".repeat(64) } })
    const [code, failed, out, signedIn] = yield* audit.list({ limit: 10 })
    const member = signedIn?.actor ?? ""
    assert.match(member, /^mem_/)
    const { issuer } = ada
    assert.deepInclude(signedIn, {
      role: "member",
      action: "session.signIn",
      address: "203.0.113.9",
      subject: id,
      after: { scope: "account", by: "oidc:team", issuer, subject: "1815" }
    })
    assert.deepInclude(out, { actor: member, role: "member", action: "session.signOut", subject: id, requestId: "out" })
    assert.deepInclude(failed, {
      actor: "unknown",
      role: null,
      action: "session.signInFailed",
      after: { reason: "email_not_verified", by: "oidc:team", issuer, subject: "x" }
    })
    assert.deepInclude(code, { action: "session.signInFailed", after: { reason: "invalid_code", by: "link" } })
    assert.isDefined(account)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
