import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { Places } from "@kinora/rate-limit"
import { WebhookStore } from "@kinora/webhooks"
import { DateTime, Effect, Fiber, Option, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Browsers from "./Browsers.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const console = "/console/v1"
const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }

const WithId = Schema.Struct({ id: Schema.String })
const idOf = ({ json }: Host.Answer) => Schema.decodeUnknownSync(WithId)(json).id
const idsOf = ({ json }: Host.Answer) =>
  Schema.decodeUnknownSync(Schema.Struct({ data: Schema.Array(WithId) }))(json).data.map(({ id }) => id)

/** Pages of a member, a viewer and an API key of one account, and of a member of another one. */
const adminToken = Redacted.make("x".repeat(32))

const open = Effect.fnUntraced(function*(options: Parameters<typeof Host.start>[0] = {}) {
  const send = yield* Host.start({ adminToken, ...options })
  const owner = yield* Host.openAccount()
  const stranger = yield* Host.openAccount({ email: "other@example.com" })
  const pageOf = (account: string, role: "member" | "viewer") =>
    Effect.map(Browsers.signInAs(send, { scope: "account", account, role, member: null }), ({ page }) => page)
  return {
    ...owner,
    send,
    stranger,
    member: yield* pageOf(owner.account.id, "member"),
    viewer: yield* pageOf(owner.account.id, "viewer"),
    byKey: (yield* Browsers.signIn(send, { api_key: Redacted.value(owner.key) })).page,
    other: yield* pageOf(stranger.account.id, "member")
  }
})

it.effect("creates, rolls, lists and revokes the keys of the account", () =>
  Effect.gen(function*() {
    const { keyId, member, other, send, viewer } = yield* open()
    const created = yield* member("POST", `${console}/keys`, { body: { name: "mine", scopes: ["read"] } })
    assert.deepStrictEqual([created.status, created.headers["cache-control"]], [201, "no-store"])
    const id = idOf(created)
    const { key } = Schema.decodeUnknownSync(Schema.Struct({ key: Schema.String }))(created.json)
    assert.strictEqual((yield* send("GET", "/v1/models", { key })).status, 200)
    const rolled = yield* member("POST", `${console}/keys/${id}/roll`, { body: { overlap_seconds: 0 } })
    assert.strictEqual(rolled.status, 201)
    for (const page of [member, viewer]) {
      const listed = yield* page("GET", `${console}/keys`)
      assert.includeMembers([...idsOf(listed)], [keyId, idOf(rolled)])
      assert.notInclude(listed.text, key)
    }
    assert.notInclude(idsOf(yield* other("GET", `${console}/keys`)), keyId)
    errorOf(yield* other("DELETE", `${console}/keys/${keyId}`), "not_found")
    errorOf(yield* other("POST", `${console}/keys/${keyId}/roll`, { body: {} }), "not_found")
    assert.strictEqual((yield* member("DELETE", `${console}/keys/${idOf(rolled)}`)).status, 204)
    const invalid = yield* member("POST", `${console}/keys`, { body: { name: "x", models: ["no-model"] } })
    errorOf(invalid, "invalid_request")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("changes the budget of a key of the account, and shows what is used of it", () =>
  Effect.gen(function*() {
    const { key, keyId, member, other, send } = yield* open()
    const one = `${console}/keys/${keyId}`
    const limits = { credits_per_day: 10, credits_per_month: null, jobs_per_day: null, jobs_per_month: 5 }
    const none = { credits: 0, jobs: 0 }
    const changed = yield* member("PATCH", one, { body: { budget: { credits_per_day: 10, jobs_per_month: 5 } } })
    assert.deepInclude(changed.json, { id: keyId, budget: limits, used: { day: none, month: none } })
    // Other servers and the cache of this one learn of a budget within 5 seconds.
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual((yield* send("POST", "/v1/generations", { key, body })).status, 201)
    const again = { ...body, params: { prompt: "another lake" } }
    errorOf(yield* send("POST", "/v1/generations", { key, body: again }), "key_budget_exceeded")
    const use = { credits: 8, jobs: 1 }
    const raised = yield* member("PATCH", one, { body: { budget: { credits_per_day: null } } })
    assert.deepInclude(raised.json, { budget: { ...limits, credits_per_day: null }, used: { day: use, month: use } })
    assert.deepInclude(Object((yield* member("GET", `${console}/keys`)).json).data, raised.json)
    errorOf(yield* member("PATCH", one, { body: { budget: { jobs_per_day: -1 } } }), "invalid_request")
    errorOf(yield* other("PATCH", one, { body: { budget: {} } }), "not_found")
    yield* member("DELETE", one)
    errorOf(yield* member("PATCH", one, { body: { budget: {} } }), "key_ended")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("members rename keys, and do not exceed or remove the limits that an operator has set", () =>
  Effect.gen(function*() {
    const { account, keyId, member, send, viewer } = yield* open()
    const one = `${console}/keys/${keyId}`
    const limits = { credits_per_day: 100, credits_per_month: null, jobs_per_day: null, jobs_per_month: null }
    const path = `/admin/v1/accounts/${account.id}/keys/${keyId}`
    yield* send("PATCH", path, { key: adminToken, body: { budget: { credits_per_day: 100 } } })
    for (const limit of [101, null]) {
      const refused = yield* member("PATCH", one, { body: { budget: { credits_per_day: limit, jobs_per_day: 5 } } })
      assert.deepStrictEqual([refused.status, errorOf(refused, "key_budget_fixed").details], [
        403,
        { budget: "credits_per_day", limit: 100 }
      ])
    }
    const lowered = yield* member("PATCH", one, { body: { name: "Lowered", budget: { credits_per_day: 60 } } })
    assert.deepInclude(lowered.json, {
      name: "Lowered",
      budget: { ...limits, credits_per_day: 60 },
      budget_max: limits
    })
    const raised = yield* member("PATCH", one, { body: { budget: { credits_per_day: 100 } } })
    assert.deepInclude(raised.json, { budget: limits, budget_max: limits })
    errorOf(yield* viewer("PATCH", one, { body: { name: "No" } }), "session_not_allowed")
    const created = yield* member("POST", `${console}/keys`, { body: { name: "own", budget: { jobs_per_day: 5 } } })
    const removed = yield* member("PATCH", `${console}/keys/${idOf(created)}`, {
      body: { budget: { jobs_per_day: 6 } }
    })
    assert.deepInclude(removed.json, {
      budget: { ...limits, credits_per_day: null, jobs_per_day: 6 },
      budget_max: { ...limits, credits_per_day: null }
    })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("manages the webhook endpoints of the account", () =>
  Effect.gen(function*() {
    const { key, member, other, send, viewer } = yield* open()
    const endpoints = `${console}/webhook-endpoints`
    const created = yield* member("POST", endpoints, { body: { url: "https://hooks.example.com/kinora" } })
    assert.deepStrictEqual([created.status, created.headers["cache-control"]], [201, "no-store"])
    const one = `${endpoints}/${idOf(created)}`
    assert.deepStrictEqual(idsOf(yield* viewer("GET", endpoints)), [idOf(created)])
    assert.notInclude((yield* viewer("GET", one)).text, "whsec_")
    const updated = yield* member("PATCH", one, { body: { types: ["generation.failed"] } })
    assert.deepInclude(updated.json, { types: ["generation.failed"] })
    assert.strictEqual((yield* member("POST", `${one}/rotate`, { body: { overlap_seconds: 60 } })).status, 200)
    const tested = yield* member("POST", `${one}/test`)
    assert.strictEqual(tested.status, 202)
    assert.deepStrictEqual(idsOf(yield* viewer("GET", `${one}/deliveries?limit=5`)), [idOf(tested)])
    assert.deepStrictEqual((yield* viewer("GET", `${one}/sends`)).json, { data: [] })
    const resend = `deliveries/${idOf(tested)}/resend`
    errorOf(yield* member("POST", `${one}/${resend}`), "delivery_pending")
    yield* settle
    const second = yield* member("POST", endpoints, { body: { url: "https://hooks.example.com/second" } })
    errorOf(yield* member("POST", `${endpoints}/${idOf(second)}/${resend}`), "not_found")
    const resent = yield* member("POST", `${one}/${resend}`)
    assert.deepStrictEqual([resent.status, Object(resent.json).status], [202, "pending"])

    const job = idOf(yield* send("POST", "/v1/generations", { key, body }))
    yield* send("POST", `/admin/v1/generations/${job}/fail`, { key: "x".repeat(32) })
    const [newest = ""] = idsOf(yield* viewer("GET", `${one}/deliveries?limit=1`))
    for (const page of [member, viewer]) {
      const { payload } = Object((yield* page("GET", `${one}/deliveries/${newest}`)).json)
      assert.deepInclude(payload, { id: newest, type: "generation.failed" })
      assert.deepInclude(payload.data.generation, { id: job, status: "failed" })
    }
    errorOf(yield* member("GET", `${endpoints}/${idOf(second)}/deliveries/${newest}`), "not_found")
    errorOf(yield* other("GET", `${one}/deliveries/${newest}`), "not_found")
    const since = { since: DateTime.formatIso(yield* DateTime.now) }
    assert.deepStrictEqual((yield* member("POST", `${one}/resend-failed`, { body: since })).json, {
      resent: 0,
      left: 0
    })
    errorOf(yield* other("POST", `${one}/resend-failed`, { body: since }), "not_found")
    errorOf(yield* member("POST", `${one}/resend-failed`, { body: {} }), "invalid_request")

    const changes = [["PATCH", "", {}], ["DELETE", ""], ["POST", "/rotate", {}], ["POST", "/test"]] as const
    for (const [method, path, body] of [...changes, ["GET", ""], ["GET", "/sends"], ["GET", "/deliveries"]] as const) {
      errorOf(yield* other(method, `${one}${path}`, { body }), "not_found")
    }
    errorOf(yield* other("POST", `${one}/${resend}`), "not_found")
    assert.deepStrictEqual(idsOf(yield* other("GET", endpoints)), [])
    assert.strictEqual((yield* member("DELETE", one)).status, 204)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

/** Delivers what is due, as a delivery worker does. */
const settle = Effect.gen(function*() {
  const store = yield* WebhookStore.WebhookStore
  const at = yield* DateTime.now
  const { endpoints } = yield* store.due(at, 10)
  const claimed = yield* store.claim(
    endpoints.map(({ endpoint }) => ({ endpoint, limit: 10 })),
    at,
    DateTime.add(at, { seconds: 30 })
  )
  yield* store.settle(claimed.map(({ attempt, claims, delivery }) => ({
    delivery,
    claims,
    next: { _tag: "Delivered" },
    send: { outcome: { reason: "ok", httpStatus: 204 }, attempt, at, durationMillis: 12 }
  })))
})

it.effect("permits only members to change keys and webhooks", () =>
  Effect.gen(function*() {
    const { byKey, keyId, viewer } = yield* open()
    const endpoint = `${console}/webhook-endpoints/whep_01q3dcbd00evhthzyyqsfhxazr`
    const changes = [
      ["POST", `${console}/keys`, { name: "mine" }],
      ["PATCH", `${console}/keys/${keyId}`, { budget: {} }],
      ["POST", `${console}/keys/${keyId}/roll`, {}],
      ["DELETE", `${console}/keys/${keyId}`],
      ["POST", `${console}/webhook-endpoints`, { url: "https://hooks.example.com" }],
      ["PATCH", endpoint, {}],
      ["DELETE", endpoint],
      ["POST", `${endpoint}/rotate`, {}],
      ["POST", `${endpoint}/test`],
      ["POST", `${endpoint}/resend-failed`, { since: "2026-11-21T00:00:00Z" }],
      ["POST", `${endpoint}/deliveries/dlv_01q3dcbd00evhthzyyqsfhxazr/resend`]
    ] as const
    for (const [method, path, body] of changes) {
      for (const page of path.includes("/keys") ? [viewer, byKey] : [viewer]) {
        const answer = yield* page(method, path, { body })
        assert.deepStrictEqual(errorOf(answer, "session_not_allowed").details, { access: "member" })
        assert.match(answer.text, /sign in with a link of a member/)
      }
    }
    for (const path of ["/keys", "/webhook-endpoints", "/statement"]) {
      if (path !== "/webhook-endpoints") errorOf(yield* byKey("GET", `${console}${path}`), "session_not_allowed")
      assert.strictEqual((yield* viewer("GET", `${console}${path}`)).status, 200)
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("reports the statement, the summary and the activity of jobs of the account only", () =>
  Effect.gen(function*() {
    const { account, byKey, key, member, other, send } = yield* open()
    const id = idOf(yield* send("POST", "/v1/generations", { key, body }))
    const statement = yield* member("GET", `${console}/statement?limit=1`)
    const Statement = Schema.Struct({
      data: Schema.Array(Schema.Struct({ reference: Schema.String })),
      next_cursor: Schema.String
    })
    const page = Schema.decodeUnknownSync(Statement)(statement.json)
    assert.deepStrictEqual(page.data, [{ reference: id }])
    const next = yield* member("GET", `${console}/statement?cursor=${page.next_cursor}`)
    assert.include(next.text, "start")
    assert.notInclude((yield* other("GET", `${console}/statement`)).text, id)
    errorOf(yield* member("GET", `${console}/statement?cursor=no`), "invalid_params")

    for (const session of [member, byKey]) {
      const activity = yield* session("GET", `${console}/generations/${id}/activity`)
      assert.deepInclude(activity.json, { id, status: "queued" })
      assert.deepStrictEqual(Object(activity.json).timeline.map(({ step }: { readonly step: string }) => step), [
        "created",
        "charged"
      ])
      assert.deepStrictEqual((yield* session("GET", `${console}/summary`)).json, {
        jobs: { pending: 0, queued: 1, processing: 0 },
        plans: {
          studio: { running: 0, concurrency: 2, waiting: 0 },
          credits: { running: 1, concurrency: 4, waiting: 0 }
        },
        warnings: []
      })
    }
    errorOf(yield* other("GET", `${console}/generations/${id}/activity`), "not_found")
    errorOf(yield* member("GET", `${console}/generations/unknown/activity`), "not_found")
    yield* Host.complete(Schema.decodeUnknownSync(Schema.Any)(id), new Uint8Array(1))
    assert.notInclude((yield* member("GET", `${console}/generations/${id}/activity`)).text, "\"test\"")

    yield* TestClock.adjust("25 days")
    const { setPlan } = yield* Accounts.Accounts
    yield* setPlan(account.id, "studio", Option.none())
    const again = yield* Browsers.signInAs(send, {
      scope: "account",
      account: account.id,
      role: "viewer",
      member: null
    })
    const { json } = yield* again.page("GET", `${console}/summary`)
    const warnings: ReadonlyArray<{ readonly code: string }> = Object(json).warnings
    assert.deepStrictEqual(warnings.map(({ code }) => code), ["credits_expire", "plan_ends"])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("streams the changes of all jobs of the account, from the last event on, for a limited time", () =>
  Effect.gen(function*() {
    const { byKey, key, keyId, member, other, send } = yield* open({ longPollsMax: 1 })
    const create = Effect.map(send("POST", "/v1/generations", { key, body }), idOf)
    const connectedAt = DateTime.formatIso(yield* DateTime.now)

    /** Follows the jobs while `meanwhile` runs, and until the stream ends. */
    const follow = Effect.fnUntraced(
      function*(page: typeof member, meanwhile: Effect.Effect<unknown, unknown>, since?: string) {
        const headers = since === undefined ? {} : { "last-event-id": since }
        const answer = yield* Effect.forkChild(page("GET", `${console}/events`, { headers }), {
          startImmediately: true
        })
        const turns = Effect.forEach(Array.from({ length: 20 }), () => send("GET", "/healthz"))
        yield* Effect.andThen(Effect.andThen(turns, Effect.orDie(meanwhile)), turns)
        // The stream may begin after the clock has moved.
        while (answer.pollUnsafe() === undefined) yield* Effect.andThen(TestClock.adjust("5 minutes"), turns)
        return yield* Fiber.join(answer)
      }
    )

    let id = ""
    const first = yield* follow(
      member,
      Effect.tap(create, (made) =>
        Effect.sync(() => {
          id = made
        }))
    )
    assert.deepStrictEqual([first.status, first.headers["content-type"]], [200, "text/event-stream"])
    assert.match(first.text, new RegExp(`^id: ${connectedAt}\nretry: 5000\n\n`))
    const event = new RegExp(`\n\nid: [^\n]+\nevent: generation\ndata: \\{"id":"${id}"`)
    assert.match(first.text, event)

    for (const page of [member, byKey]) assert.match((yield* follow(page, Effect.void, connectedAt)).text, event)
    assert.notInclude((yield* follow(other, Effect.void, connectedAt)).text, id)
    yield* send("POST", `/v1/generations/${id}/cancel`, { key })
    yield* TestClock.adjust("1 minute")
    assert.notInclude((yield* follow(member, Effect.void)).text, id)
    assert.match((yield* follow(member, Effect.void, connectedAt)).text, event)

    // The only place of the key is taken.
    const places = yield* Places.Places
    yield* places.acquire({ key: `wait:${keyId}`, max: 1 })
    const { text } = yield* byKey("GET", `${console}/events`)
    assert.match(text, /^: too many requests of this key wait.*\n\nretry: 5000\n\n$/)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
