import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import * as RequestPolicy from "@kinora/http-api/RequestPolicy"
import type { Session } from "@kinora/sessions"
import { Duration, Effect, Fiber, Option, Redacted } from "effect"
import { HttpApi } from "effect/http-api"
import { TestClock } from "effect/testing"
import * as Browsers from "./Browsers.ts"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const { session } = Browsers
const sessions = "/console/v1/sessions"
const models = "/v1/models"
const job = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }

const memberOf = (account: string): Session.Grant => ({ scope: "account", account, role: "member", member: null })
const viewerOf = (account: string): Session.Grant => ({ scope: "account", account, role: "viewer", member: null })

/** Every route of the console with its policy. */
const routes = (() => {
  const found: Array<{ readonly method: string; readonly path: string; readonly policy: RequestPolicy.Policy }> = []
  HttpApi.reflect(ConsoleApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      found.push({
        method: endpoint.method,
        path: endpoint.path.replaceAll(/:\w+/g, "x"),
        policy: RequestPolicy.of(endpoint)
      })
    }
  })
  return found.filter(({ policy }) => policy.access !== undefined)
})()

it.effect("rejects requests without a session on every route of the console", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ failedAuthenticationsPerMinute: 1_000 })
    const { account } = yield* Host.openAccount()
    const { createKey } = yield* Accounts.Accounts
    const { key } = yield* createKey(account.id, "reader", {
      scopes: Option.some(["generate", "read", "account:read"])
    })
    assert.isAtLeast(routes.length, 3)
    for (const { method, path, policy: { authentication } } of routes) {
      for (const cookie of ["", "0".repeat(64), "\"", "x".repeat(4_000)]) {
        errorOf(yield* Browsers.pageOf(send, cookie)(method, path), "unauthorized")
      }
      const answer = yield* send(method, path, { key, headers: Browsers.samePage })
      if (authentication === "session") errorOf(answer, "unauthorized")
      else assert.deepStrictEqual(errorOf(answer, "scope_missing").details, { scope: "webhooks" })
    }
    assert.isNull((yield* send("GET", session)).json)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("permits each kind of session exactly the routes of the console that it may use", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({
      adminToken: Redacted.make("x".repeat(32)),
      // The stream of events ends at once.
      accountEventsTime: Duration.zero
    })
    const { account, key } = yield* Host.openAccount()
    const signInAs = {
      key: Browsers.signIn(send, { api_key: Redacted.value(key) }),
      viewer: Browsers.signInAs(send, viewerOf(account.id)),
      member: Browsers.signInAs(send, memberOf(account.id)),
      operator: Effect.flatMap(
        send("POST", "/admin/v1/operators/owner/sign-in-links", { key: "x".repeat(32) }),
        (answer) => Browsers.signIn(send, { code: Browsers.linkOf(answer).code })
      )
    }
    const permitted: Record<RequestPolicy.ConsoleAccess, ReadonlyArray<keyof typeof signInAs>> = {
      any: ["key", "viewer", "member", "operator"],
      key: ["key", "viewer", "member"],
      viewer: ["viewer", "member"],
      member: ["member"],
      operator: ["operator"]
    }
    for (const { method, path, policy: { access = "any", authentication } } of routes) {
      for (const name of ["key", "viewer", "member", "operator"] as const) {
        const { page } = yield* signInAs[name]
        const answer = yield* page(method, path)
        const what = `${method} ${path} of ${name}`
        const isPermitted = permitted[access].includes(name) || name === "key" && authentication === "keyOrSession"
        if (isPermitted) assert.notInclude([401, 403], answer.status, what)
        else assert.deepStrictEqual(errorOf(answer, "session_not_allowed").details, { access }, what)
      }
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("gives members the rights of the account in /v1, and viewers only its reads", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account } = yield* Host.openAccount()
    const member = yield* Browsers.signInAs(send, memberOf(account.id))
    const viewer = yield* Browsers.signInAs(send, viewerOf(account.id))
    const created = yield* member.page("POST", "/v1/generations", { body: job })
    assert.strictEqual(created.status, 201, created.text)
    for (const { page } of [member, viewer]) {
      for (const path of [models, "/v1/account", "/v1/generations", created.headers["location"]!]) {
        const answer = yield* page("GET", path.replace("https://api.example.com", ""))
        assert.strictEqual(answer.status, 200, answer.text)
      }
    }
    const refused = yield* viewer.page("POST", "/v1/generations", { body: job })
    assert.deepStrictEqual(errorOf(refused, "scope_missing").details, { scope: "generate" })
    errorOf(yield* viewer.page("POST", "/v1/uploads", { body: Host.pixel }), "scope_missing")
    const { account: other } = yield* Host.openAccount({ email: "other@example.com" })
    const stranger = yield* Browsers.signInAs(send, memberOf(other.id))
    errorOf(
      yield* stranger.page("GET", created.headers["location"]!.replace("https://api.example.com", "")),
      "not_found"
    )
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("reads files with a session, but not those of another account", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account } = yield* Host.openAccount()
    const { account: other } = yield* Host.openAccount({ email: "other@example.com" })
    const { id } = yield* Host.addCompleted(account, Host.pixel)
    const path = `/v1/generations/${id}/content`
    const { page } = yield* Browsers.signInAs(send, viewerOf(account.id))
    assert.strictEqual((yield* page("GET", path)).status, 200)
    const stranger = yield* Browsers.signInAs(send, memberOf(other.id))
    errorOf(yield* stranger.page("GET", path), "not_found")
    errorOf(yield* send("GET", path), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects changes from other pages with a session, and without one at sign-in", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account } = yield* Host.openAccount()
    const { page, token } = yield* Browsers.signInAs(send, memberOf(account.id))
    const cookie = `${Browsers.cookieName}=${token}`
    const code = yield* Browsers.codeOf(memberOf(account.id))
    const foreign: ReadonlyArray<Readonly<Record<string, string>>> = [
      { "sec-fetch-site": "cross-site", "origin": "https://evil.example" },
      // Another port of the host, and a page of a sibling domain.
      { "sec-fetch-site": "same-site", "origin": "https://api.example.com:8443" },
      { "sec-fetch-site": "none" },
      { "sec-fetch-site": "same-site", "origin": "https://api.example.com" },
      { origin: "https://api.example.com:8443" },
      { origin: "http://api.example.com" },
      { origin: "https://evil.example" },
      { origin: "null" },
      {}
    ]
    for (const headers of foreign) {
      const what = JSON.stringify(headers)
      const post = (path: string, body: object, method = "POST") =>
        send(method, path, { headers: { ...headers, cookie }, body })
      errorOf(yield* post("/v1/generations", job), "cross_origin")
      errorOf(yield* post(session, { code }), "cross_origin")
      errorOf(yield* send("POST", session, { headers, body: { code } }), "cross_origin")
      errorOf(yield* send("DELETE", session, { headers: { ...headers, cookie } }), "cross_origin")
      errorOf(yield* send("DELETE", sessions, { headers: { ...headers, cookie } }), "cross_origin")
      assert.strictEqual((yield* send("GET", models, { headers: { ...headers, cookie } })).status, 200, what)
    }
    assert.strictEqual((yield* page("POST", "/v1/generations", { body: job })).status, 201)
    for (const origin of ["https://api.example.com", "http://localhost"]) {
      const answer = yield* send("POST", "/v1/generations", { headers: { cookie, origin }, body: job })
      // The repeated request returns the same job.
      assert.strictEqual(answer.status, 200, origin)
    }
    yield* Browsers.signIn(send, { code })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("does not ask programs with a key for the page they come from, and ignores their cookies", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount()
    const { page, token } = yield* Browsers.signInAs(send, memberOf(account.id))
    const cookie = `${Browsers.cookieName}=${token}`
    const answer = yield* send("POST", "/v1/generations", { key, headers: { cookie }, body: job })
    assert.strictEqual(answer.status, 201)
    errorOf(yield* page("GET", models, { key: "kin_wrong" }), "unauthorized")
    errorOf(yield* page("GET", models, { headers: { authorization: "" } }), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("ends the sessions of a revoked key and of a suspended account, also after it is resumed", () =>
  Effect.gen(function*() {
    const adminToken = "x".repeat(32)
    const send = yield* Host.start({ adminToken: Redacted.make(adminToken) })
    const { account, key, keyId } = yield* Host.openAccount()
    const accounts = yield* Accounts.Accounts
    const ofKey = yield* Browsers.signIn(send, { api_key: Redacted.value(key) })
    const member = yield* Browsers.signInAs(send, memberOf(account.id))
    const unused = yield* Browsers.signInAs(send, viewerOf(account.id))
    assert.strictEqual((yield* ofKey.page("GET", models)).status, 200)
    yield* accounts.revokeKey(account.id, keyId)
    assert.isNull((yield* ofKey.page("GET", session)).json)
    errorOf(yield* ofKey.page("GET", models), "unauthorized")
    assert.strictEqual((yield* member.page("GET", models)).status, 200)
    const code = yield* Browsers.codeOf(memberOf(account.id))
    yield* send("POST", `/admin/v1/accounts/${account.id}/suspend`, { key: adminToken })
    errorOf(yield* member.page("GET", models), "unauthorized")
    yield* send("POST", `/admin/v1/accounts/${account.id}/resume`, { key: adminToken })
    for (const { page } of [member, unused]) errorOf(yield* page("GET", models), "unauthorized")
    errorOf(yield* send("POST", session, { headers: Browsers.samePage, body: { code } }), "invalid_code")
    const again = yield* Browsers.signInAs(send, memberOf(account.id))
    yield* send("DELETE", `/admin/v1/accounts/${account.id}`, { key: adminToken })
    yield* send("POST", `/admin/v1/accounts/${account.id}/restore`, { key: adminToken })
    errorOf(yield* again.page("GET", models), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("lists and ends sessions: one, all others, and none of other accounts", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount()
    const { account: other } = yield* Host.openAccount({ email: "other@example.com" })
    const stranger = yield* Browsers.signInAs(send, memberOf(other.id))
    const first = yield* Browsers.signInAs(send, memberOf(account.id))
    const second = yield* Browsers.signInAs(send, memberOf(account.id))
    const ofKey = yield* Browsers.signIn(send, { api_key: Redacted.value(key) })
    const list = (page: typeof first.page) =>
      Effect.map(page("GET", sessions), ({ json }) => Browsers.sessionsOf(json).data)
    const listed = yield* list(first.page)
    assert.sameMembers(listed.map(({ scope }) => scope), ["account", "account", "key"])
    assert.strictEqual(listed.filter(({ current }) => current).length, 1)
    assert.deepStrictEqual(listed.map(({ address }) => address), Array(3).fill("203.0.113.9"))
    assert.strictEqual((yield* list(ofKey.page)).length, 1)
    const [strange] = yield* list(stranger.page)
    errorOf(yield* first.page("DELETE", `${sessions}/${strange!.id}`), "not_found")
    errorOf(yield* ofKey.page("DELETE", `${sessions}/${listed.find(({ current }) => current)!.id}`), "not_found")
    for (const id of ["x", "ses_00000000000000000000000000"]) {
      errorOf(yield* first.page("DELETE", `${sessions}/${id}`), "not_found")
    }
    const ended = listed.find(({ scope }) => scope === "key")!
    assert.strictEqual((yield* first.page("DELETE", `${sessions}/${ended.id}`)).status, 204)
    errorOf(yield* ofKey.page("GET", models), "unauthorized")
    assert.strictEqual((yield* first.page("DELETE", sessions)).status, 204)
    errorOf(yield* second.page("GET", models), "unauthorized")
    for (const { page } of [first, stranger]) assert.strictEqual((yield* page("GET", models)).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("ends the event streams of a session within 5 seconds after its end, and those of a key not", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount()
    const { page } = yield* Browsers.signInAs(send, memberOf(account.id))
    const created = yield* page("POST", "/v1/generations", { body: job })
    const path = `${created.headers["location"]!.replace("https://api.example.com", "")}/events`
    const { id } = Browsers.sessionOf((yield* page("GET", session)).json)
    const ofSession = yield* Effect.forkChild(page("GET", path))
    const ofKey = yield* Effect.forkChild(send("GET", path, { key }))
    yield* Host.held("wait", id, 1)
    yield* TestClock.adjust("30 seconds")
    assert.isUndefined(ofSession.pollUnsafe())
    yield* page("DELETE", session)
    yield* TestClock.adjust("5 seconds")
    assert.include((yield* Fiber.join(ofSession)).text, "\"status\":\"queued\"")
    yield* Host.held("wait", id, 0)
    assert.isUndefined(ofKey.pollUnsafe())
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("ends a session without use after 12 hours, which showing it does not prolong", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account } = yield* Host.openAccount()
    const { page } = yield* Browsers.signInAs(send, memberOf(account.id))
    yield* TestClock.adjust("11 hours")
    assert.strictEqual((yield* page("GET", models)).status, 200)
    yield* TestClock.adjust("11 hours")
    assert.isNotNull((yield* page("GET", session)).json)
    yield* TestClock.adjust("1 hour")
    assert.isNull((yield* page("GET", session)).json)
    errorOf(yield* page("GET", models), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("counts requests per session, and those of a session with a key as requests of the key", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ keyRequestsPerMinute: 5 })
    const { account, key } = yield* Host.openAccount()
    const [first, second] = [
      yield* Browsers.signInAs(send, memberOf(account.id)),
      yield* Browsers.signInAs(send, memberOf(account.id))
    ]
    for (let left = 4; left >= 2; left--) {
      assert.strictEqual(limitOf(yield* first.page("GET", models)).remaining, left)
    }
    for (let left = 1; left >= 0; left--) {
      assert.strictEqual(limitOf(yield* first.page("GET", sessions)).remaining, left)
    }
    assert.deepStrictEqual(errorOf(yield* first.page("GET", sessions), "rate_limited").details, { scope: "key" })
    assert.strictEqual((yield* second.page("GET", models)).status, 200)
    const { page } = yield* Browsers.signIn(send, { api_key: Redacted.value(key) })
    assert.strictEqual(limitOf(yield* page("GET", models)).remaining, 3)
    assert.strictEqual(limitOf(yield* send("GET", models, { key })).remaining, 2)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("without the console, has none of its paths and ignores cookies", () =>
  Effect.gen(function*() {
    const { account } = yield* Host.openAccount()
    const { token } = yield* Browsers.signInAs(yield* Host.start(), memberOf(account.id))
    const page = Browsers.pageOf(yield* Host.start({ console: false }), token)
    for (const path of [session, sessions, "/console/v1/openapi.json"]) errorOf(yield* page("GET", path), "not_found")
    errorOf(yield* page("GET", models), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
