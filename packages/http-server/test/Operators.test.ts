import { assert, it } from "@effect/vitest"
import { AdminApi } from "@kinora/http-api/AdminApi"
import * as RequestPolicy from "@kinora/http-api/RequestPolicy"
import { AuditLog, Operators } from "@kinora/operators"
import { StorageError } from "@kinora/persistence"
import { Scheduler } from "@kinora/scheduler"
import { Sessions } from "@kinora/sessions"
import { WebhookStore } from "@kinora/webhooks"
import { EndpointId } from "@kinora/webhooks/Endpoint"
import { DateTime, Effect, Option, Redacted, Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { TestClock } from "effect/testing"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const token = "the token of the operators of this service"
const start = Host.start({ adminToken: Redacted.make(token), failedAuthenticationsPerMinute: 1_000 })
const roles = RequestPolicy.OperatorRole.literals

interface Route {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly role: RequestPolicy.OperatorRole | undefined
}

const routes: ReadonlyArray<Route> = (() => {
  const found: Array<Route> = []
  HttpApi.reflect(AdminApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      found.push({
        id: `${group.identifier}.${endpoint.identifier}`,
        method: endpoint.method,
        path: endpoint.path,
        role: RequestPolicy.of(endpoint).role
      })
    }
  })
  return found
})()

const EntrySchema = Schema.Struct({
  id: Schema.String,
  actor: Schema.String,
  role: Schema.String,
  address: Schema.String,
  request_id: Schema.String,
  action: Schema.String,
  subject: Schema.NullOr(Schema.String),
  before: Schema.Json,
  after: Schema.Json
})
const auditOf = Schema.decodeUnknownSync(
  Schema.Struct({ data: Schema.Array(EntrySchema), next_cursor: Schema.NullOr(Schema.String) })
)
const idOf = (answer: Host.Answer) => Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String }))(answer.json).id
const newOf = Schema.decodeUnknownSync(
  Schema.Struct({ id: Schema.String, token: Schema.String, prefix: Schema.String })
)

it.effect("requires at least a role on every route: every route with every role", () =>
  Effect.gen(function*() {
    const send = yield* start
    const operators = yield* Operators.Operators
    assert.isAbove(routes.length, 35)
    for (const role of roles) {
      const { token: key } = yield* operators.create({ name: role, role })
      for (const { id, method, path, role: needed = "owner" } of routes) {
        const answer = yield* send(method, path.replaceAll(/:\w+/g, "x"), { key })
        if (roles.indexOf(role) >= roles.indexOf(needed)) assert.notStrictEqual(answer.status, 403, `${role} ${id}`)
        else assert.deepStrictEqual(errorOf(answer, "role_missing").details, { role: needed }, `${role} ${id}`)
      }
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("permits auditors all reads and nothing else, and support a few changes", () =>
  Effect.sync(() => {
    for (const { id, method, role } of routes) {
      // The body of a delivery has signed URLs of results.
      const isRead = method === "GET" && id !== "webhooks.getWebhookDelivery"
      assert.strictEqual(role === "auditor", isRead || id === "ledger.verifyLedger", id)
    }
    const idsOf = (role: string) => routes.filter((route) => route.role === role).map(({ id }) => id)
    assert.sameMembers(idsOf("support"), [
      "accounts.suspendAccount",
      "accounts.resumeAccount",
      "generations.cancelGeneration",
      "webhooks.getWebhookDelivery",
      "webhooks.resendFailedDeliveries",
      "webhooks.updateWebhookEndpoint",
      "webhooks.resendWebhookDelivery"
    ])
    assert.sameMembers(idsOf("owner"), [
      "operators.createOperator",
      "operators.rotateOperator",
      "operators.revokeOperator",
      "links.createOperatorSignInLink",
      "sessions.endOperatorSession",
      "sessions.endOperatorSessions"
    ])
  }))

it.effect("authenticates operators until they expire or are revoked, and counts rejected tokens as failures", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ adminToken: Redacted.make(token), failedAuthenticationsPerMinute: 4 })
    const path = "/admin/v1/operators"
    const create = (name: string, more: object = {}) =>
      Effect.map(
        send("POST", path, { key: token, body: { name, role: "auditor", ...more } }),
        (answer) => {
          assert.strictEqual(answer.status, 201, answer.text)
          assert.strictEqual(answer.headers["cache-control"], "no-store")
          return newOf(answer.json)
        }
      )
    const expiresAt = DateTime.formatIso(DateTime.add(Host.startedAt, { minutes: 2 }))
    const expiring = yield* create("expiring", { expires_at: expiresAt })
    const revoked = yield* create("revoked")
    const rotated = yield* create("rotated")
    const second = newOf(
      (yield* send("POST", `${path}/${rotated.id}/rotate`, { key: token, body: { overlap_seconds: 60 } })).json
    )
    for (const key of [expiring.token, revoked.token, rotated.token, second.token]) {
      const answer = yield* send("GET", path, { key })
      assert.strictEqual(answer.status, 200)
      for (const secret of [expiring.token, revoked.token, rotated.token, second.token]) {
        assert.notInclude(answer.text, secret)
      }
    }
    assert.strictEqual((yield* send("DELETE", `${path}/${revoked.id}`, { key: token })).status, 204)
    yield* TestClock.adjust("2 minutes")
    for (const key of [expiring.token, revoked.token, rotated.token, `${second.token}0`]) {
      errorOf(yield* send("GET", path, { key }), "unauthorized")
    }
    errorOf(yield* send("GET", path, { key: revoked.token }), "rate_limited")
    assert.strictEqual((yield* send("GET", path, { key: second.token })).status, 200)
    errorOf(yield* send("POST", `${path}/${revoked.id}/rotate`, { key: token, body: {} }), "operator_ended")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects invalid operators, and more than the maximum", () =>
  Effect.gen(function*() {
    const send = yield* start
    const create = (body: object) => send("POST", "/admin/v1/operators", { key: token, body })
    const past = DateTime.formatIso(Host.startedAt)
    for (const wrong of [{ name: " " }, { name: "a\nb" }, { role: "root" }, { expires_at: past }]) {
      errorOf(yield* create({ name: "Ada", role: "owner", ...wrong }), "invalid_request")
    }
    for (let count = 0; count < 100; count++) yield* create({ name: "Ada", role: "owner" })
    assert.deepStrictEqual(errorOf(yield* create({ name: "Ada", role: "owner" }), "too_many_operators").details, {
      operators_max: 100
    })
    assert.lengthOf(auditOf((yield* send("GET", "/admin/v1/audit?limit=100", { key: token })).json).data, 100)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("permits support to disable a webhook endpoint, but no other change of it", () =>
  Effect.gen(function*() {
    const send = yield* start
    const { account } = yield* Host.openAccount()
    const { token: key } = yield* Operators.Operators.use(({ create }) => create({ name: "Ada", role: "support" }))
    const path = `/admin/v1/accounts/${account.id}/webhook-endpoints`
    const url = "https://hooks.example.org/secret"
    const endpoint = idOf(yield* send("POST", path, { key: token, body: { url } }))
    for (const body of [{}, { status: "enabled" }, { status: "disabled", types: null }, { url }]) {
      const answer = yield* send("PATCH", `${path}/${endpoint}`, { key, body })
      assert.deepStrictEqual(errorOf(answer, "role_missing").details, { role: "operator" })
    }
    assert.strictEqual((yield* send("PATCH", `${path}/${endpoint}`, { key, body: { status: "disabled" } })).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

/** Acts as a worker whose only attempt of the pending delivery failed. */
const failDelivery = Effect.fnUntraced(function*(endpoint: string) {
  const store = yield* WebhookStore.WebhookStore
  const at = yield* DateTime.now
  const id = EndpointId.parse(endpoint)!
  const [claimed] = yield* store.claim([{ endpoint: id, limit: 1 }], at, DateTime.add(at, { seconds: 30 }))
  const { claims, delivery } = claimed!
  const outcome = { reason: "status_500", httpStatus: 500 } as const
  yield* store.settle([{
    delivery,
    claims,
    next: { _tag: "Failed" },
    send: { outcome, attempt: 1, at, durationMillis: 12 }
  }])
})

/** Sends each change once and returns the responses, by operation. */
const sendChanges = Effect.fnUntraced(function*(send: Effect.Success<typeof start>) {
  const { account, key } = yield* Host.openAccount()
  const create = (prompt: string) =>
    Effect.map(
      send("POST", "/v1/generations", { key, body: { plan: "credits", model: "kinora-still", params: { prompt } } }),
      idOf
    )
  const [job, stuck] = [yield* create("a lake"), yield* create("a sea")]
  const sent = new Map<string, Host.Answer>()
  const change = Effect.fnUntraced(function*(id: string, method: string, path: string, body?: unknown) {
    const answer = yield* send(method, `/admin/v1${path}`, { key: token, body, headers: { "x-request-id": id } })
    assert.isBelow(answer.status, 300, `${id}: ${answer.text}`)
    sent.set(id, answer)
    return answer
  })
  const path = `/accounts/${account.id}`
  const periodEnd = "2027-01-31T00:00:00.000Z"
  yield* change("accounts.createAccount", "POST", "/accounts", { email: "new@example.com" })
  yield* change("accounts.updateAccount", "PATCH", path, { email: "other@example.com" })
  yield* change("accounts.suspendAccount", "POST", `${path}/suspend`)
  yield* change("accounts.resumeAccount", "POST", `${path}/resume`)
  const made = idOf(yield* change("keys.createKey", "POST", `${path}/keys`, { name: "laptop" }))
  yield* change("keys.updateKey", "PATCH", `${path}/keys/${made}`, { budget: { jobs_per_day: 5 } })
  yield* change("keys.rollKey", "POST", `${path}/keys/${made}/roll`, {})
  yield* change("keys.revokeKey", "DELETE", `${path}/keys/${made}`)
  yield* change("plans.setStudioPlan", "PUT", `${path}/plans/studio`, { tier: "pro", period_end: periodEnd })
  yield* change("plans.endStudioPlan", "DELETE", `${path}/plans/studio`)
  yield* change("plans.setCreditsPlan", "PUT", `${path}/plans/credits`, { tier: "pro", period_end: periodEnd })
  yield* change("plans.endCreditsPlan", "DELETE", `${path}/plans/credits`)
  yield* change("wallet.deposit", "POST", `${path}/deposits`, { reference: "invoice", usd_cents: 10_000 })
  yield* change("wallet.debit", "POST", `${path}/debits`, { reference: "fee", usd_cents: 1 })
  const urls = { success_url: "https://shop.example/url-secret", cancel_url: "https://shop.example/" }
  yield* change("wallet.openCheckout", "POST", `${path}/wallet/checkouts`, { amount_usd_cents: 100, ...urls })
  for (const group of ["studio", "credits"]) {
    const name = group === "studio" ? "Studio" : "Credits"
    yield* change(`plans.subscribe${name}`, "PUT", `${path}/plans/${group}/subscription`, { tier: "starter" })
    yield* change(`plans.stop${name}Renewal`, "DELETE", `${path}/plans/${group}/subscription`)
  }
  yield* change("generations.cancelGeneration", "POST", `/generations/${job}/cancel`)
  yield* change("generations.requeueGeneration", "POST", `/generations/${stuck}/requeue`)
  yield* change("generations.failGeneration", "POST", `/generations/${stuck}/fail`)
  const { takeLease } = yield* Scheduler.Scheduler
  yield* takeLease({ id: "wrk_a", worker: "host/worker/7", kinds: [], slots: 1, ttl: "8 seconds" })
  yield* change("queue.drainWorker", "POST", "/workers/wrk_a/drain")
  yield* change("queue.resumeWorker", "POST", "/workers/wrk_a/resume")
  yield* change("models.pauseModel", "POST", "/models/kinora-still/pause")
  yield* change("models.resumeModel", "POST", "/models/kinora-still/resume")
  const lot = { reference: "gift", kind: "addon", credits: 5, expires_at: periodEnd }
  yield* change("ledger.grantLot", "POST", `${path}/lots`, lot)
  yield* change("ledger.revokeLot", "POST", `${path}/lots/${idOf(sent.get("ledger.grantLot")!)}/revoke`)
  yield* change("accounts.deleteAccount", "DELETE", path)
  yield* change("accounts.restoreAccount", "POST", `${path}/restore`)
  const hooks = `${path}/webhook-endpoints`
  const url = { url: "https://hooks.example.org/url-secret" }
  const hook = idOf(yield* change("webhooks.createWebhookEndpoint", "POST", hooks, url))
  yield* change("webhooks.updateWebhookEndpoint", "PATCH", `${hooks}/${hook}`, url)
  yield* change("webhooks.rotateWebhookSecret", "POST", `${hooks}/${hook}/rotate`, {})
  const delivery = idOf(yield* change("webhooks.testWebhookEndpoint", "POST", `${hooks}/${hook}/test`))
  const resend = `${path}/webhook-deliveries/${delivery}/resend`
  errorOf(yield* send("POST", `/admin/v1${resend}`, { key: token }), "delivery_pending")
  yield* failDelivery(hook)
  yield* change("webhooks.resendWebhookDelivery", "POST", resend)
  const since = { since: "2026-11-21T00:00:00Z" }
  yield* change("webhooks.resendFailedDeliveries", "POST", `${hooks}/${hook}/resend-failed`, since)
  yield* change("webhooks.removeWebhookEndpoint", "DELETE", `${hooks}/${hook}`)
  const operator = { name: "Ada", role: "support" }
  const ada = idOf(yield* change("operators.createOperator", "POST", "/operators", operator))
  yield* change("links.createAccountSignInLink", "POST", `${path}/sign-in-links`, {})
  const member = idOf(yield* change("members.inviteMember", "POST", `${path}/members`, { email: "grace@example.com" }))
  yield* change("members.updateMember", "PATCH", `${path}/members/${member}`, { role: "viewer" })
  yield* change("members.createMemberSignInLink", "POST", `${path}/members/${member}/sign-in-links`)
  yield* change("members.removeMember", "DELETE", `${path}/members/${member}`)
  yield* change("links.createOperatorSignInLink", "POST", `/operators/${ada}/sign-in-links`)
  const { session } = yield* Sessions.Sessions.use(({ start }) =>
    start({ scope: "operator", operator: ada, role: "support" }, { device: Option.none(), address: "203.0.113.9" })
  )
  yield* change("sessions.endOperatorSession", "DELETE", `/operators/${ada}/sessions/${session.id}`)
  yield* change("sessions.endOperatorSessions", "DELETE", `/operators/${ada}/sessions`)
  yield* change("operators.rotateOperator", "POST", `/operators/${ada}/rotate`, {})
  yield* change("operators.revokeOperator", "DELETE", `/operators/${ada}`)
  return { account, sent }
})

const Secrets = Schema.Struct({
  key: Schema.optionalKey(Schema.String),
  secret: Schema.optionalKey(Schema.String),
  token: Schema.optionalKey(Schema.String)
})

it.effect("appends an entry for every change, without secrets, and none for a refused change", () =>
  Effect.gen(function*() {
    const send = yield* start
    const { account, sent } = yield* sendChanges(send)
    const list = (query: string) =>
      Effect.map(send("GET", `/admin/v1/audit?${query}`, { key: token }), (answer) => auditOf(answer.json))
    const { data } = yield* list("limit=100")
    const ids = routes.filter(({ method, role }) => role !== "auditor" && method !== "GET").map(({ id }) => id)
    assert.sameMembers(data.map(({ action }) => action), ids)
    assert.deepStrictEqual(data.map(({ request_id: id }) => id).toReversed(), [...sent.keys()])
    for (const entry of data) {
      assert.deepInclude(entry, { actor: "owner", role: "owner", address: "203.0.113.9" })
      assert.isNotNull(entry.subject, entry.action)
    }
    const text = JSON.stringify(data)
    assert.notInclude(text, token)
    assert.notInclude(text, "url-secret")
    let secrets = 0
    for (const { json } of sent.values()) {
      const found = Schema.decodeUnknownOption(Secrets)(json ?? {})
      for (const secret of found._tag === "Some" ? Object.values(found.value) : []) {
        assert.notInclude(text, secret)
        secrets++
      }
    }
    assert.strictEqual(secrets, 6)
    const { data: [suspended] } = yield* list("action=accounts.suspendAccount")
    assert.deepInclude(suspended, {
      subject: account.id,
      before: { status: "active" },
      after: { status: "suspended" }
    })
    const { data: [created] } = yield* list("action=accounts.createAccount")
    assert.strictEqual(created?.subject, idOf(sent.get("accounts.createAccount")!))
  }).pipe(Effect.scoped, Effect.provide(Host.layerWith({ paymentProvider: Host.paymentProvider }))))

it.effect("leaves no entry for a refused change, and undoes a change whose entry cannot be appended", () =>
  Effect.gen(function*() {
    const send = yield* start
    yield* Host.openAccount({ email: "taken@example.com" })
    const refused = yield* send("POST", "/admin/v1/accounts", { key: token, body: { email: "taken@example.com" } })
    errorOf(refused, "email_taken")
    assert.isEmpty(auditOf((yield* send("GET", "/admin/v1/audit", { key: token })).json).data)

    const failure = new StorageError.StorageError({ operation: "test", reason: "unavailable", cause: "test" })
    const failing = yield* Effect.updateService(
      start,
      AuditLog.AuditLog,
      (log) => AuditLog.AuditLog.of({ ...log, append: () => Effect.fail(failure) })
    )
    const body = { email: "undone@example.com" }
    errorOf(yield* failing("POST", "/admin/v1/accounts", { key: token, body }), "unavailable")
    assert.strictEqual((yield* send("POST", "/admin/v1/accounts", { key: token, body })).status, 201)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("lists entries by operator, subject and time, page by page", () =>
  Effect.gen(function*() {
    const send = yield* start
    const { account } = yield* Host.openAccount()
    const { operator, token: key } = yield* Operators.Operators.use(({ create }) =>
      create({ name: "Ada", role: "support" })
    )
    const path = `/admin/v1/accounts/${account.id}`
    yield* send("POST", `${path}/suspend`, { key: token })
    yield* TestClock.adjust("1 minute")
    yield* send("POST", `${path}/resume`, { key })
    const actions = (query: string) =>
      Effect.map(send("GET", `/admin/v1/audit?${query}`, { key }), (answer) => {
        const { data, next_cursor } = auditOf(answer.json)
        return { actions: data.map(({ action }) => action.split(".")[1]), next: next_cursor }
      })
    const both = ["resumeAccount", "suspendAccount"]
    assert.deepStrictEqual(yield* actions(""), { actions: both, next: null })
    assert.deepStrictEqual(yield* actions(`subject=${account.id}`), { actions: both, next: null })
    assert.deepStrictEqual((yield* actions(`actor=${operator.id}`)).actions, ["resumeAccount"])
    assert.deepStrictEqual((yield* actions("actor=owner")).actions, ["suspendAccount"])
    assert.deepStrictEqual((yield* actions("actor=%00")).actions, [])
    assert.deepStrictEqual((yield* actions("since=2026-11-21T12:01:00Z")).actions, ["resumeAccount"])
    assert.deepStrictEqual((yield* actions("until=2026-11-21T12:01:00Z")).actions, ["suspendAccount"])
    const first = yield* actions("limit=1")
    assert.deepStrictEqual(first.actions, ["resumeAccount"])
    assert.deepStrictEqual(yield* actions(`limit=1&cursor=${first.next}`), {
      actions: ["suspendAccount"],
      next: null
    })
    for (const query of ["cursor=x", "since=monday", "limit=0"]) {
      errorOf(yield* send("GET", `/admin/v1/audit?${query}`, { key }), "invalid_params")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
