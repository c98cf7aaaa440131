import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import * as RequestPolicy from "@kinora/http-api/RequestPolicy"
import { AuditLog, Operators } from "@kinora/operators"
import { DateTime, Effect, Fiber, Redacted } from "effect"
import { HttpApi } from "effect/http-api"
import { TestClock } from "effect/testing"
import * as Browsers from "./Browsers.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const token = "the-token-of-the-operators-of-this-service"
const start = Host.start({ adminToken: Redacted.make(token) })
const view = "/console/v1/view"
const job = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }

/** Signs in as an operator with a role. */
const signIn = Effect.fnUntraced(function*(send: Effect.Success<typeof start>, role: RequestPolicy.OperatorRole) {
  const { operator } = yield* Operators.Operators.use(({ create }) => create({ name: role, role }))
  const grant = { scope: "operator", operator: operator.id, role } as const
  return { id: operator.id, ...(yield* Browsers.signInAs(send, grant)) }
})

/** The changes of the console that a member can make. */
const changes = (() => {
  const found: Array<{ readonly method: string; readonly path: string }> = []
  HttpApi.reflect(ConsoleApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const { access } = RequestPolicy.of(endpoint)
      if (access === "member") found.push({ method: endpoint.method, path: endpoint.path.replaceAll(/:\w+/g, "x") })
    }
  })
  return found
})()

it.effect("an operator reads an account like a viewer, and can change nothing of it", () =>
  Effect.gen(function*() {
    const send = yield* start
    const { account, key } = yield* Host.openAccount()
    const stranger = yield* Host.openAccount({ email: "other@example.com" })
    const created = yield* send("POST", "/v1/generations", { key, body: job })
    const { id } = Object(created.json)
    const { page } = yield* signIn(send, "support")
    errorOf(yield* page("GET", "/v1/account"), "unauthorized")
    errorOf(yield* page("GET", "/console/v1/keys"), "session_not_allowed")

    const started = yield* page("POST", view, { body: { account: account.id } })
    const shown = { account: { id: account.id, email: account.email }, until: "2026-11-21T13:00:30.000Z" }
    assert.deepStrictEqual(started.json, shown)
    assert.deepInclude((yield* page("GET", Browsers.session)).json, { scope: "operator", account: null, view: shown })
    for (
      const path of [
        "/v1/account",
        "/v1/models",
        "/v1/usage",
        "/v1/generations",
        `/v1/generations/${id}`,
        "/console/v1/keys",
        "/console/v1/webhook-endpoints",
        "/console/v1/summary",
        "/console/v1/statement",
        `/console/v1/generations/${id}/activity`
      ]
    ) {
      const answer = yield* page("GET", path)
      assert.strictEqual(answer.status, 200, `${path} ${answer.text}`)
      assert.notInclude(answer.text, stranger.account.id)
    }
    assert.include((yield* page("GET", "/v1/account")).text, account.id)

    for (
      const [method, path, body] of [["POST", "/v1/generations", job], [
        "POST",
        `/v1/generations/${id}/cancel`
      ]] as const
    ) {
      errorOf(yield* page(method, path, { body }), "view_only")
    }
    assert.isAtLeast(changes.length, 9)
    for (const { method, path } of changes) errorOf(yield* page(method, path), "view_only")
    // The rights of the operator are the same as before.
    assert.strictEqual((yield* page("GET", "/admin/v1/accounts")).status, 200)
    errorOf(yield* page("POST", "/admin/v1/accounts", { body: { email: "new@example.com" } }), "role_missing")
    const foreign = { headers: { "sec-fetch-site": "same-site" }, body: { account: account.id } }
    errorOf(yield* page("POST", view, foreign), "cross_origin")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("a view ends by itself, when it is ended, with the session, and with the account; each start and end is recorded", () =>
  Effect.gen(function*() {
    const send = yield* start
    const { account } = yield* Host.openAccount()
    const other = yield* Host.openAccount({ email: "other@example.com" })
    const { id, page } = yield* signIn(send, "operator")
    const startView = (account: string) => page("POST", view, { body: { account } })
    yield* startView(account.id)
    yield* startView(other.account.id)
    assert.include((yield* page("GET", "/v1/account")).text, other.account.id)
    const events = yield* Effect.forkChild(page("GET", "/console/v1/events"), { startImmediately: true })
    const turns = Effect.forEach(Array.from({ length: 20 }), () => send("GET", "/healthz"))
    yield* turns
    for (const _ of ["once", "again"]) assert.strictEqual((yield* page("DELETE", view)).status, 204)
    errorOf(yield* page("GET", "/v1/account"), "unauthorized")
    // The stream of the view ends too, long before the 5 minutes of every stream.
    let seconds = 0
    for (; events.pollUnsafe() === undefined; seconds += 5) yield* Effect.andThen(TestClock.adjust("5 seconds"), turns)
    assert.isAtMost(seconds, 60)
    assert.strictEqual((yield* Fiber.join(events)).status, 200)

    yield* startView(account.id)
    yield* TestClock.adjust("30 minutes")
    assert.strictEqual((yield* page("GET", "/v1/account")).status, 200)
    yield* TestClock.adjust("30 minutes")
    errorOf(yield* page("GET", "/v1/account"), "unauthorized")
    assert.strictEqual((yield* page("GET", "/admin/v1/accounts")).status, 200)

    const again = yield* signIn(send, "owner")
    yield* again.page("POST", view, { body: { account: account.id } })
    yield* Accounts.Accounts.use(({ suspend }) => suspend(account.id))
    errorOf(yield* again.page("GET", "/v1/account"), "unauthorized")
    assert.isNull(Object((yield* again.page("GET", Browsers.session)).json).view)
    const entries = yield* AuditLog.AuditLog.use((audit) => audit.list({ actor: id, limit: 20 }))
    assert.deepStrictEqual(
      entries.filter(({ action }) => action.startsWith("view.")).map((
        { action, after, subject }
      ) => [action, subject, after])
        .toReversed(),
      [
        ["view.startView", account.id, { until: "2026-11-21T13:00:30.000Z" }],
        ["view.startView", other.account.id, { until: "2026-11-21T13:00:30.000Z" }],
        ["view.endView", other.account.id, null],
        ["view.startView", account.id, {
          until: DateTime.formatIso(DateTime.add(Host.startedAt, { hours: 1, seconds }))
        }]
      ]
    )
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("refuses views to auditors and to accounts, and of accounts that are not active", () =>
  Effect.gen(function*() {
    const send = yield* start
    const { account, key } = yield* Host.openAccount()
    const body = { account: account.id }
    const auditor = yield* signIn(send, "auditor")
    assert.deepStrictEqual(errorOf(yield* auditor.page("POST", view, { body }), "role_missing").details, {
      role: "support"
    })
    const member = yield* Browsers.signIn(send, { api_key: Redacted.value(key) })
    assert.deepStrictEqual(errorOf(yield* member.page("POST", view, { body }), "session_not_allowed").details, {
      access: "operator"
    })
    errorOf(yield* send("POST", view, { key: token, body, headers: Browsers.samePage }), "unauthorized")
    const { page } = yield* signIn(send, "support")
    for (const account of ["x", "acct_00000000000000000000000000"]) {
      errorOf(yield* page("POST", view, { body: { account } }), "not_found")
    }
    const { remove, suspend } = yield* Accounts.Accounts
    yield* suspend(account.id)
    errorOf(yield* page("POST", view, { body }), "account_suspended")
    yield* remove(account.id)
    errorOf(yield* page("POST", view, { body }), "account_deleted")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
