import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { AuditLog, Operators } from "@kinora/operators"
import type { Session } from "@kinora/sessions"
import { Effect, type Layer, Redacted, type Scope } from "effect"
import { HttpEffect, HttpRouter, type HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import * as OperatorRoutes from "../src/OperatorRoutes.ts"
import * as Browsers from "./Browsers.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const { samePage, session } = Browsers
const token = "the-token-of-the-operators-of-this-service"
const start = Host.start({ adminToken: Redacted.make(token) })
const accounts = "/admin/v1/accounts"

const operatorOf = (operator: Operators.NewToken): Session.Grant => ({
  scope: "operator",
  operator: operator.operator.id,
  role: operator.operator.role
})

it.effect("gives operators their role in /admin/v1, and records changes under their id", () =>
  Effect.gen(function*() {
    const send = yield* start
    const { account } = yield* Host.openAccount()
    const operators = yield* Operators.Operators
    const support = yield* operators.create({ name: "Ada", role: "support" })
    const { page } = yield* Browsers.signInAs(send, operatorOf(support))
    assert.strictEqual((yield* page("GET", accounts)).status, 200)
    assert.strictEqual((yield* page("POST", `${accounts}/${account.id}/suspend`)).status, 200)
    assert.deepStrictEqual(errorOf(yield* page("DELETE", `${accounts}/${account.id}`), "role_missing").details, {
      role: "operator"
    })
    const [entry] = yield* AuditLog.AuditLog.use((audit) => audit.list({ action: "accounts.suspendAccount", limit: 1 }))
    assert.deepInclude(entry, { actor: support.operator.id, role: "support", subject: account.id })
    errorOf(yield* page("GET", "/v1/models"), "unauthorized")
    const member = yield* Browsers.signIn(send, {
      api_key: Redacted.value(
        (yield* Accounts.Accounts.use(({ createKey, resume }) =>
          Effect.andThen(resume(account.id), createKey(account.id, "test"))
        )).key
      )
    })
    errorOf(yield* member.page("GET", accounts), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects changes of operators from other pages", () =>
  Effect.gen(function*() {
    const send = yield* start
    const { account } = yield* Host.openAccount()
    const support = yield* Operators.Operators.use(({ create }) => create({ name: "Ada", role: "support" }))
    const { token: cookie } = yield* Browsers.signInAs(send, operatorOf(support))
    const path = `${accounts}/${account.id}/suspend`
    for (
      const headers of [
        {},
        { "sec-fetch-site": "same-site" },
        { "origin": "https://evil.example" }
      ] satisfies ReadonlyArray<Readonly<Record<string, string>>>
    ) {
      const sent = { ...headers, cookie: `${Browsers.cookieName}=${cookie}` }
      errorOf(yield* send("POST", path, { headers: sent }), "cross_origin")
    }
    assert.strictEqual((yield* Accounts.Accounts.use(({ get }) => get(account.id))).status, "active")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("ends the sessions of an operator that is revoked or expires, and after an hour without use", () =>
  Effect.gen(function*() {
    const send = yield* start
    const operators = yield* Operators.Operators
    const ada = yield* operators.create({ name: "Ada", role: "auditor" })
    const bob = yield* operators.create({ name: "Bob", role: "auditor" })
    const revoked = yield* Browsers.signInAs(send, operatorOf(ada))
    const idle = yield* Browsers.signInAs(send, operatorOf(bob))
    yield* send("DELETE", `/admin/v1/operators/${ada.operator.id}`, { key: token })
    errorOf(yield* revoked.page("GET", accounts), "unauthorized")
    assert.isNull((yield* revoked.page("GET", session)).json)
    assert.strictEqual((yield* idle.page("GET", accounts)).status, 200)
    yield* TestClock.adjust("1 hour")
    errorOf(yield* idle.page("GET", accounts), "unauthorized")
    const wrongRole = yield* Browsers.codeOf({ scope: "operator", operator: bob.operator.id, role: "owner" })
    errorOf(yield* send("POST", session, { headers: samePage, body: { code: wrongRole } }), "invalid_code")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("lists and ends the sessions of operators, with an entry for each end", () =>
  Effect.gen(function*() {
    const send = yield* start
    const operators = yield* Operators.Operators
    const ada = yield* operators.create({ name: "Ada", role: "auditor" })
    const bob = yield* operators.create({ name: "Bob", role: "auditor" })
    const pathOf = (operator: string) => `/admin/v1/operators/${operator}/sessions`
    const [path, others] = [pathOf(ada.operator.id), pathOf(bob.operator.id)]
    const idsOf = (path: string) =>
      Effect.map(send("GET", path, { key: token }), ({ json }) => Array.from(Object(json).data, ({ id }) => String(id)))
    assert.deepStrictEqual(yield* idsOf(path), [])
    const [first, second, third] = [
      yield* Browsers.signInAs(send, operatorOf(ada)),
      yield* Browsers.signInAs(send, operatorOf(ada)),
      yield* Browsers.signInAs(send, operatorOf(bob))
    ]
    const { id } = Browsers.sessionOf((yield* first.page("GET", session)).json)
    const listed = yield* send("GET", path, { key: token })
    assert.lengthOf(Object(listed.json).data, 2)
    assert.include(listed.text, "\"address\":\"203.0.113.9\"")
    assert.notInclude(listed.text, first.token)
    errorOf(yield* send("DELETE", `${others}/${id}`, { key: token }), "not_found")
    errorOf(yield* send("DELETE", `${path}/ses_unknown`, { key: token }), "not_found")
    errorOf(yield* send("GET", pathOf("opr_00000000000000000000000000"), { key: token }), "not_found")
    assert.strictEqual((yield* send("DELETE", `${path}/${id}`, { key: token })).status, 204)
    errorOf(yield* first.page("GET", accounts), "unauthorized")
    assert.strictEqual((yield* second.page("GET", accounts)).status, 200)
    const code = yield* Browsers.codeOf(operatorOf(ada))
    assert.strictEqual((yield* send("DELETE", path, { key: token })).status, 204)
    errorOf(yield* second.page("GET", accounts), "unauthorized")
    errorOf(yield* send("POST", session, { headers: samePage, body: { code } }), "invalid_code")
    assert.strictEqual((yield* third.page("GET", accounts)).status, 200)
    assert.strictEqual((yield* send("GET", accounts, { key: Redacted.value(ada.token) })).status, 200)

    const owner = Browsers.linkOf(yield* send("POST", "/admin/v1/operators/owner/sign-in-links", { key: token }))
    const { page } = yield* Browsers.signIn(send, { code: owner.code })
    assert.lengthOf(yield* idsOf(pathOf("owner")), 1)
    assert.strictEqual((yield* send("DELETE", pathOf("owner"), { key: token })).status, 204)
    errorOf(yield* page("GET", accounts), "unauthorized")
    const entries = yield* AuditLog.AuditLog.use((audit) => audit.list({ limit: 20 }))
    const ends = entries.filter(({ action }) => action.startsWith("sessions."))
    assert.deepStrictEqual(ends.map(({ action, after, subject }) => ({ action, after, subject })).toReversed(), [
      { action: "sessions.endOperatorSession", after: { operator: ada.operator.id }, subject: id },
      { action: "sessions.endOperatorSessions", after: null, subject: ada.operator.id },
      { action: "sessions.endOperatorSessions", after: null, subject: "owner" }
    ])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("creates sign-in links of accounts and operators, and records them without the code", () =>
  Effect.gen(function*() {
    const send = yield* start
    const { account } = yield* Host.openAccount()
    const operators = yield* Operators.Operators
    const { operator } = yield* operators.create({ name: "Ada", role: "support" })
    const create = (path: string, body?: object) =>
      send("POST", `/admin/v1/${path}/sign-in-links`, { key: token, body })
    const answer = yield* create(`accounts/${account.id}`, {})
    assert.strictEqual(answer.headers["cache-control"], "no-store")
    const member = Browsers.linkOf(answer)
    assert.deepInclude(member, {
      page: "https://api.example.com/console/",
      role: "member",
      expires_at: "2026-11-21T12:10:30.000Z"
    })
    const viewer = Browsers.linkOf(yield* create(`accounts/${account.id}`, { role: "viewer" }))
    const support = Browsers.linkOf(yield* create(`operators/${operator.id}`))
    const owner = Browsers.linkOf(yield* create("operators/owner"))
    for (const { code, role } of [member, viewer, support, owner]) {
      const { page } = yield* Browsers.signIn(send, { code })
      assert.strictEqual(Browsers.sessionOf((yield* page("GET", session)).json).role, role)
    }
    const entries = yield* AuditLog.AuditLog.use((audit) => audit.list({ limit: 20 }))
    const links = entries.filter(({ action }) => action.startsWith("links."))
    assert.deepStrictEqual(links.map(({ after, subject }) => ({ after, subject })).toReversed(), [
      { after: { role: "member" }, subject: account.id },
      { after: { role: "viewer" }, subject: account.id },
      { after: { role: "support" }, subject: operator.id },
      { after: { role: "owner" }, subject: "owner" }
    ])
    for (const { code } of [member, support]) assert.notInclude(JSON.stringify(entries), code)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects sign-in links that cannot work", () =>
  Effect.gen(function*() {
    const send = yield* start
    const { account } = yield* Host.openAccount()
    const operators = yield* Operators.Operators
    const { operator } = yield* operators.create({ name: "Ada", role: "support" })
    const create = (path: string, body?: object) =>
      send("POST", `/admin/v1/${path}/sign-in-links`, { key: token, body })
    for (const id of ["x", "acct_00000000000000000000000000"]) errorOf(yield* create(`accounts/${id}`, {}), "not_found")
    for (const id of ["x", "opr_00000000000000000000000000"]) errorOf(yield* create(`operators/${id}`), "not_found")
    yield* operators.revoke(operator.id)
    errorOf(yield* create(`operators/${operator.id}`), "operator_ended")
    for (let made = 0; made < 20; made++) Browsers.linkOf(yield* create(`accounts/${account.id}`, {}))
    assert.deepStrictEqual(errorOf(yield* create(`accounts/${account.id}`, {}), "too_many_links").details, {
      links_max: 20
    })
    yield* Accounts.Accounts.use(({ remove }) => remove(account.id))
    errorOf(yield* create(`accounts/${account.id}`, {}), "account_deleted")
    const off = yield* Host.start({ adminToken: Redacted.make(token), console: false })
    const refused = yield* off("POST", "/admin/v1/operators/owner/sign-in-links", { key: token })
    errorOf(refused, "console_disabled")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("ends the sessions of KINORA_ADMIN_TOKEN with the token", () =>
  Effect.gen(function*() {
    const send = yield* start
    const link = Browsers.linkOf(yield* send("POST", "/admin/v1/operators/owner/sign-in-links", { key: token }))
    const { page, token: cookie } = yield* Browsers.signIn(send, { code: link.code })
    assert.strictEqual((yield* page("GET", accounts)).status, 200)
    const changed = yield* Host.start({ adminToken: Redacted.make(`${token}-changed`) })
    errorOf(yield* Browsers.pageOf(changed, cookie)("GET", accounts), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("serves the console on a listener for operators alone, on its own origin", () =>
  Effect.gen(function*() {
    const options = { adminToken: Redacted.make(token), baseUrl: "https://api.example.com" }
    const app = yield* HttpRouter.toHttpEffect(OperatorRoutes.layerWith(options))
    const context = yield* Effect.context<Layer.Success<typeof Host.layer>>()
    const handler = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)(app)
    const origin = "http://127.0.0.1:4748"
    const send = (method: string, path: string, headers: Record<string, string>, body?: object) =>
      Effect.promise(() =>
        handler(
          new Request(`${origin}${path}`, {
            method,
            headers: { host: "127.0.0.1:4748", "content-type": "application/json", ...headers },
            body: body === undefined ? null : JSON.stringify(body)
          })
        )
      )
    const authorization = `Bearer ${token}`
    const { account } = yield* Host.openAccount()
    const accountLink = yield* send("POST", `${accounts}/${account.id}/sign-in-links`, { authorization }, {})
    assert.include(yield* Effect.promise(() => accountLink.text()), "https://api.example.com/console/#code=")
    const link = yield* send("POST", "/admin/v1/operators/owner/sign-in-links", { authorization })
    const [, code] = /"(http:\/\/127\.0\.0\.1:4748\/console\/#code=)([0-9a-f]{64})"/
      .exec(yield* Effect.promise(() => link.text()))!.slice(1)
    const signedIn = yield* send("POST", session, { origin }, { code: code! })
    assert.strictEqual(signedIn.status, 204)
    const cookie = /^kinora_4748=[0-9a-f]{64}/.exec(signedIn.headers.get("set-cookie") ?? "")![0]
    assert.strictEqual((yield* send("GET", accounts, { cookie })).status, 200)
    const foreign = { cookie, origin: "https://api.example.com" }
    assert.strictEqual((yield* send("DELETE", "/console/v1/sessions", foreign)).status, 403)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
