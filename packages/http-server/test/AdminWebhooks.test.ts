import { assert, it } from "@effect/vitest"
import { GenerationEvent } from "@kinora/generations"
import { EventType } from "@kinora/http-api/Webhook"
import { WebhookStore } from "@kinora/webhooks"
import { EndpointId } from "@kinora/webhooks/Endpoint"
import { Webhooks } from "@kinora/webhooks/Webhooks"
import { DateTime, Effect, Logger, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const token = "the token of the operators of this service"

const Endpoint = Schema.Struct({ id: Schema.String, url: Schema.String, secret: Schema.optionalKey(Schema.String) })
const endpointOf = Schema.decodeUnknownSync(Endpoint)
const Delivery = Schema.Struct({ id: Schema.String, event_id: Schema.String, status: Schema.String })
const deliveryOf = Schema.decodeUnknownSync(Delivery)
const listOf = Schema.decodeUnknownSync(Schema.Struct({ data: Schema.Array(Schema.Json) }))

const unknownAccount = "acct_00000000000000000000000000"
const unknownEndpoint = "whep_00000000000000000000000000"
const unknownDelivery = "dlv_00000000000000000000000000"
const now = DateTime.formatIso(Host.startedAt)
const url = "https://hooks.example.com/kinora"

type Operation = readonly [method: string, path: string, body?: Schema.Json]

/** Sends requests with the operator's token. Opens two accounts. */
const open = Effect.fnUntraced(function*() {
  const send = yield* Host.start({ adminToken: Redacted.make(token) })
  const operator = (method: string, path: string, body?: unknown) =>
    send(method, `/admin/v1/accounts/${path}`, { key: token, body })
  const [{ account }, { account: other }] = [
    yield* Host.openAccount(),
    yield* Host.openAccount({ email: "other@example.com" })
  ]
  const endpoints = `${account.id}/webhook-endpoints`
  const register = Effect.map(operator("POST", endpoints, { url }), ({ json }) => endpointOf(json))
  return { send, operator, account, other, endpoints, register }
})

/** Acts as a delivery worker: attempts the first due delivery of an endpoint once, with 500 as the response. */
const sendOnce = Effect.fnUntraced(function*(endpoint: string) {
  const store = yield* WebhookStore.WebhookStore
  const at = yield* DateTime.now
  const id = EndpointId.parse(endpoint)!
  const [claimed] = yield* store.claim([{ endpoint: id, limit: 1 }], at, DateTime.add(at, { seconds: 30 }))
  const outcome = { reason: "status_500", httpStatus: 500 } as const
  const { claims, delivery } = claimed!
  const send = { outcome, attempt: 1, at, durationMillis: 12.3 }
  yield* store.settle([{ delivery, claims, next: { _tag: "Failed" }, send }])
})

it.effect("creates an endpoint and returns its secret once", () =>
  Effect.gen(function*() {
    const { endpoints, operator } = yield* open()
    const created = yield* operator("POST", endpoints, {
      url: "HTTPS://Hooks.Example.com:443/kinora?a=1",
      types: ["generation.completed", "generation.failed"]
    })
    assert.strictEqual(created.status, 201)
    assert.strictEqual(created.headers["cache-control"], "no-store")
    const { id, secret = "" } = endpointOf(created.json)
    assert.match(id, /^whep_/)
    assert.match(secret, /^whsec_\w{40,}$/)
    const endpoint = {
      id,
      url: "https://hooks.example.com/kinora?a=1",
      types: ["generation.completed", "generation.failed"],
      status: "enabled",
      created_at: now,
      secret_created_at: now
    }
    assert.deepStrictEqual(created.json, { ...endpoint, secret })
    const got = yield* operator("GET", `${endpoints}/${id}`)
    assert.deepStrictEqual([got.status, got.json], [200, endpoint])
    const list = yield* operator("GET", endpoints)
    assert.deepStrictEqual([list.status, list.json], [200, { data: [endpoint] }])
    const all = yield* operator("POST", endpoints, { url, types: null })
    assert.deepInclude(all.json, { url, types: null })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects URLs that webhooks cannot be sent to, and states the problem", () =>
  Effect.gen(function*() {
    const { endpoints, operator, register } = yield* open()
    const { id } = yield* register
    const wrong = [
      ["nothing", "url"],
      ["", "url"],
      [`https://hooks.example.com/${"a".repeat(3_000)}`, "url"],
      ["http://hooks.example.com/", "scheme"],
      ["ftp://hooks.example.com/", "scheme"],
      ["https://hooks.example.com:444/", "port"],
      ["https://user:hunter2@hooks.example.com/", "user_info"],
      ["https://localhost/", "address"],
      ["https://10.0.0.1/", "address"],
      ["https://a.internal.example.com/", "address"],
      ["https://api.example.com/", "own_domain"]
    ] as const
    for (const [text, problem] of wrong) {
      for (const [method, path] of [["POST", endpoints], ["PATCH", `${endpoints}/${id}`]] as const) {
        const answer = yield* operator(method, path, { url: text })
        assert.strictEqual(answer.status, 400, text)
        const { code, details, message, plan } = Object(answer.json).error
        assert.deepStrictEqual([code, details, plan], ["invalid_webhook_url", { problem }, null], text)
        assert.match(message, /\.$/)
        assert.notInclude(message, "10.0.0.1")
        assert.notInclude(message, "hunter2")
      }
    }
    assert.strictEqual(listOf((yield* operator("GET", endpoints)).json).data.length, 1)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("lists every problem of a body with its path", () =>
  Effect.gen(function*() {
    const { endpoints, operator, register } = yield* open()
    const { id } = yield* register
    const one = `${endpoints}/${id}`
    const wrong: ReadonlyArray<readonly [method: string, path: string, body: unknown, paths: ReadonlyArray<string>]> = [
      ["POST", endpoints, {}, ["url"]],
      ["POST", endpoints, { url, secret: "mine" }, ["secret"]],
      ["POST", endpoints, { url, types: [] }, ["types"]],
      ["POST", endpoints, { url, types: ["generation.done", "generation.failed", 4] }, ["types[0]", "types[2]"]],
      ["PATCH", one, { url: 4, status: "off" }, ["url", "status"]],
      ["PATCH", one, { types: "generation.failed" }, ["types"]],
      ["POST", `${one}/rotate`, { overlap_seconds: -1 }, ["overlap_seconds"]],
      ["POST", `${one}/rotate`, { overlap_seconds: 86_401 }, ["overlap_seconds"]],
      ["POST", `${one}/rotate`, { overlap_seconds: 1.5 }, ["overlap_seconds"]]
    ]
    const Issues = Schema.Struct({ issues: Schema.Array(Schema.Struct({ path: Schema.String })) })
    for (const [method, path, body, paths] of wrong) {
      const { details } = errorOf(yield* operator(method, path, body), "invalid_request")
      const { issues } = Schema.decodeUnknownSync(Issues)(details)
      assert.deepStrictEqual(issues.map(({ path }) => path), paths, JSON.stringify(body))
    }
    for (const query of ["limit=0", "limit=101", "before=x", `before=${id}`]) {
      errorOf(yield* operator("GET", `${one}/deliveries?${query}`), "invalid_params")
    }
    errorOf(yield* operator("POST", endpoints, "{"), "invalid_request")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns 404 for unknown and malformed ids and those of other accounts, and changes nothing", () =>
  Effect.gen(function*() {
    const { account, endpoints, operator, other, register } = yield* open()
    const { id } = yield* register
    const { id: delivery } = deliveryOf((yield* operator("POST", `${endpoints}/${id}/test`)).json)
    yield* sendOnce(id)
    const before = yield* operator("GET", `${endpoints}/${id}`)
    const everyOperation = (account: string, endpoint: string, delivery: string): ReadonlyArray<Operation> => [
      ["GET", `${account}/webhook-endpoints/${endpoint}`],
      ["PATCH", `${account}/webhook-endpoints/${endpoint}`, { status: "disabled" }],
      ["DELETE", `${account}/webhook-endpoints/${endpoint}`],
      ["POST", `${account}/webhook-endpoints/${endpoint}/rotate`, {}],
      ["POST", `${account}/webhook-endpoints/${endpoint}/test`],
      ["GET", `${account}/webhook-endpoints/${endpoint}/sends`],
      ["GET", `${account}/webhook-endpoints/${endpoint}/deliveries`],
      ["GET", `${account}/webhook-endpoints/${endpoint}/deliveries/${delivery}`],
      ["POST", `${account}/webhook-endpoints/${endpoint}/resend-failed`, { since: now }],
      ["POST", `${account}/webhook-deliveries/${delivery}/resend`]
    ]
    const nothing: ReadonlyArray<Parameters<typeof everyOperation>> = [
      [other.id, id, delivery],
      [unknownAccount, id, delivery],
      ["x", id, delivery],
      [account.id, unknownEndpoint, unknownDelivery],
      [account.id, "x", "x"],
      [account.id, delivery, id]
    ]
    for (const ids of nothing) {
      for (const [method, path, body] of everyOperation(...ids)) {
        errorOf(yield* operator(method, path, body), "not_found")
      }
    }
    for (const id of [unknownAccount, "x"]) {
      errorOf(yield* operator("POST", `${id}/webhook-endpoints`, { url }), "not_found")
      errorOf(yield* operator("GET", `${id}/webhook-endpoints`), "not_found")
    }
    assert.deepStrictEqual((yield* operator("GET", `${endpoints}/${id}`)).json, before.json)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("requires the operator's token on every endpoint, and accepts no API key instead", () =>
  Effect.gen(function*() {
    const { endpoints, register, send } = yield* open()
    const { id } = yield* register
    const { key } = yield* Host.openAccount({ email: "third@example.com" })
    const paths = ["", `/${id}`, `/${id}/rotate`, `/${id}/test`, `/${id}/sends`, `/${id}/deliveries`]
      .concat(`/${id}/deliveries/${unknownDelivery}`, `/${id}/resend-failed`)
    for (const path of paths) {
      for (const method of ["GET", "POST", "PATCH", "DELETE"]) {
        const sent = method === "GET" ? {} : { body: { url, status: "disabled" } }
        const answer = yield* send(method, `/admin/v1/accounts/${endpoints}${path}`, { ...sent, key })
        if (answer.status === 405) continue
        errorOf(answer, "unauthorized")
        errorOf(yield* send(method, `/admin/v1/accounts/${endpoints}${path}`, sent), "unauthorized")
      }
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("accepts 5 endpoints per account, and another after one was deleted", () =>
  Effect.gen(function*() {
    const { endpoints, operator, other, register } = yield* open()
    const made = yield* Effect.forEach([1, 2, 3, 4, 5], () => register)
    const refused = yield* operator("POST", endpoints, { url })
    assert.strictEqual(refused.status, 409)
    assert.deepInclude(Object(refused.json).error, { code: "too_many_endpoints", details: { endpoints_max: 5 } })
    assert.strictEqual(refused.headers["x-should-retry"], "false")
    assert.strictEqual((yield* operator("POST", `${other.id}/webhook-endpoints`, { url })).status, 201)
    const removed = yield* operator("DELETE", `${endpoints}/${made[2]!.id}`)
    assert.deepStrictEqual([removed.status, removed.text], [204, ""])
    errorOf(yield* operator("DELETE", `${endpoints}/${made[2]!.id}`), "not_found")
    assert.strictEqual((yield* operator("POST", endpoints, { url })).status, 201)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("updates the given properties only", () =>
  Effect.gen(function*() {
    const { endpoints, operator, register } = yield* open()
    const { id } = yield* register
    const one = `${endpoints}/${id}`
    const endpoint = { id, url, types: null, status: "enabled", created_at: now, secret_created_at: now }
    const types = ["generation.failed"]
    const moved = "https://hooks.example.com:8443/"
    const steps = [
      [{}, endpoint],
      [{ types }, { ...endpoint, types }],
      [{ url: moved }, { ...endpoint, types, url: moved }],
      [{ status: "disabled" }, { ...endpoint, types, url: moved, status: "disabled" }],
      [{ types: null, url, status: "enabled" }, endpoint]
    ] as const
    for (const [body, expected] of steps) {
      const answer = yield* operator("PATCH", one, body)
      assert.deepStrictEqual([answer.status, answer.json], [200, expected])
      assert.deepStrictEqual((yield* operator("GET", one)).json, expected)
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rotates secrets, with at most 5 active ones", () =>
  Effect.gen(function*() {
    const { endpoints, operator, register } = yield* open()
    const { id, secret } = yield* register
    const rotate = (seconds?: number) =>
      operator("POST", `${endpoints}/${id}/rotate`, seconds === undefined ? {} : { overlap_seconds: seconds })
    yield* TestClock.adjust("1 minute")
    const rotated = yield* rotate(86_400)
    assert.strictEqual(rotated.status, 200)
    assert.strictEqual(rotated.headers["cache-control"], "no-store")
    const later = DateTime.formatIso(DateTime.add(Host.startedAt, { minutes: 1 }))
    assert.deepInclude(rotated.json, { id, created_at: now, secret_created_at: later })
    assert.notStrictEqual(endpointOf(rotated.json).secret, secret)
    for (let n = 3; n <= 5; n++) assert.strictEqual((yield* rotate(86_400)).status, 200)
    const refused = yield* rotate(86_400)
    assert.strictEqual(refused.status, 409)
    assert.deepInclude(Object(refused.json).error, { code: "too_many_secrets", details: { secrets_max: 5 } })
    // Without an overlap, the earlier secrets end.
    assert.strictEqual((yield* rotate()).status, 200)
    assert.strictEqual((yield* rotate(86_400)).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("sends a test event, lists the attempts, and resends a delivery", () =>
  Effect.gen(function*() {
    const { endpoints, operator, account, register } = yield* open()
    const { id } = yield* register
    const one = `${endpoints}/${id}`
    yield* operator("PATCH", one, { types: ["generation.failed"] })
    const tested = yield* operator("POST", `${one}/test`)
    const pending = {
      ...deliveryOf(tested.json),
      endpoint_id: id,
      type: "webhook.test",
      subject: null,
      status: "pending",
      failed_sends: 0,
      created_at: now,
      due_at: now
    }
    assert.deepStrictEqual([tested.status, tested.json], [202, pending])
    assert.deepStrictEqual((yield* operator("GET", `${one}/deliveries`)).json, { data: [pending] })
    assert.deepStrictEqual((yield* operator("GET", `${one}/sends`)).json, { data: [] })

    const resend = operator("POST", `${account.id}/webhook-deliveries/${pending.id}/resend`)
    const early = yield* resend
    assert.deepStrictEqual([early.status, Object(early.json).error.code], [409, "delivery_pending"])

    yield* TestClock.adjust("1 minute")
    yield* sendOnce(id)
    const later = DateTime.formatIso(DateTime.add(Host.startedAt, { minutes: 1 }))
    assert.deepStrictEqual((yield* operator("GET", `${one}/sends`)).json, {
      data: [{
        delivery_id: pending.id,
        type: "webhook.test",
        attempt: 1,
        at: later,
        duration_ms: 12,
        http_status: 500,
        reason: "status_500"
      }]
    })
    const failed = { ...pending, status: "failed", failed_sends: 1, due_at: null }
    assert.deepStrictEqual((yield* operator("GET", `${one}/deliveries`)).json, { data: [failed] })
    const again = yield* resend
    assert.deepStrictEqual([again.status, again.json], [202, { ...pending, due_at: later }])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("sends nothing to a disabled endpoint", () =>
  Effect.gen(function*() {
    const { endpoints, operator, account, register } = yield* open()
    const { id } = yield* register
    const { id: delivery } = deliveryOf((yield* operator("POST", `${endpoints}/${id}/test`)).json)
    yield* sendOnce(id)
    yield* operator("PATCH", `${endpoints}/${id}`, { status: "disabled" })
    for (const path of [`${endpoints}/${id}/test`, `${account.id}/webhook-deliveries/${delivery}/resend`]) {
      const refused = yield* operator("POST", path)
      assert.deepStrictEqual([refused.status, Object(refused.json).error.code], [409, "endpoint_disabled"])
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("lists deliveries page by page, newest first", () =>
  Effect.gen(function*() {
    const { endpoints, operator, account, register } = yield* open()
    const { id } = yield* register
    const { publish } = yield* Webhooks
    for (let n = 0; n < 25; n++) {
      yield* TestClock.adjust("1 second")
      yield* publish([{ account: account.id, type: "generation.failed", data: {} }])
    }
    const page = (query: string) =>
      Effect.map(
        operator("GET", `${endpoints}/${id}/deliveries${query}`),
        ({ json }) => listOf(json).data.map((one) => deliveryOf(one).id)
      )
    const all = yield* page("?limit=100")
    assert.strictEqual(all.length, 25)
    assert.deepStrictEqual(all.toSorted().toReversed(), all)
    assert.deepStrictEqual(yield* page(""), all.slice(0, 20))
    assert.deepStrictEqual(yield* page(`?limit=10&before=${all[9]}`), all.slice(10, 20))
    assert.deepStrictEqual(yield* page(`?before=${all[19]}`), all.slice(20))
    assert.deepStrictEqual(yield* page(`?before=${all[24]}`), [])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("shows the body of a delivery, and resends the failed deliveries since a time", () =>
  Effect.gen(function*() {
    const { endpoints, operator, register } = yield* open()
    const { id } = yield* register
    const failOne = Effect.gen(function*() {
      const delivery = deliveryOf((yield* operator("POST", `${endpoints}/${id}/test`)).json)
      yield* sendOnce(id)
      return delivery.id
    })
    const first = yield* failOne
    yield* TestClock.adjust("1 hour")
    const since = DateTime.formatIso(yield* DateTime.now)
    const second = yield* failOne
    assert.deepStrictEqual((yield* operator("GET", `${endpoints}/${id}/deliveries/${first}`)).json, {
      id: first,
      payload: { id: first, type: "webhook.test", created_at: now, data: {} }
    })

    const resendFailed = (since: unknown) => operator("POST", `${endpoints}/${id}/resend-failed`, { since })
    const statuses = Effect.map(
      operator("GET", `${endpoints}/${id}/deliveries`),
      ({ json }) => listOf(json).data.map((one) => deliveryOf(one)).map(({ id, status }) => [id, status])
    )
    assert.deepInclude(yield* resendFailed(since), { status: 200, json: { resent: 1, left: 0 } })
    assert.deepStrictEqual(yield* statuses, [[second, "pending"], [first, "failed"]])
    assert.deepInclude(yield* resendFailed(now), { json: { resent: 1, left: 0 } })
    assert.deepStrictEqual(yield* statuses, [[second, "pending"], [first, "pending"]])
    assert.deepInclude(yield* resendFailed(now), { json: { resent: 0, left: 0 } })
    errorOf(yield* resendFailed("yesterday"), "invalid_request")
    yield* operator("PATCH", `${endpoints}/${id}`, { status: "disabled" })
    errorOf(yield* resendFailed(now), "endpoint_disabled")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("logs each change with its subject, without secrets and URLs", () =>
  Effect.gen(function*() {
    const logged: Array<string> = []
    const keep = Logger.make(({ message }) => {
      logged.push(JSON.stringify(message))
    })
    yield* Effect.gen(function*() {
      const { endpoints, operator, account, register } = yield* open()
      const { id, secret } = yield* register
      const rotated = endpointOf((yield* operator("POST", `${endpoints}/${id}/rotate`, {})).json)
      const { id: delivery } = deliveryOf((yield* operator("POST", `${endpoints}/${id}/test`)).json)
      yield* sendOnce(id)
      yield* operator("POST", `${account.id}/webhook-deliveries/${delivery}/resend`)
      yield* operator("PATCH", `${endpoints}/${id}`, { status: "disabled" })
      yield* operator("DELETE", `${endpoints}/${id}`)
      yield* operator("GET", endpoints)
      assert.strictEqual(logged.length, 6, logged.join("\n"))
      for (const line of logged) {
        assert.include(line, account.id)
        for (const hidden of [secret!, rotated.secret!, token, "hooks.example.com"]) assert.notInclude(line, hidden)
      }
    }).pipe(Effect.provide(Logger.layer([keep])))
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("forbids caches to store an API key", () =>
  Effect.gen(function*() {
    const { account, operator } = yield* open()
    const created = yield* operator("POST", `${account.id}/keys`, { name: "first" })
    assert.strictEqual(created.headers["cache-control"], "no-store")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("accepts every event type of the contract", () =>
  Effect.sync(() => assert.deepStrictEqual([...EventType.literals], [...GenerationEvent.types])))
