import { assert, it } from "@effect/vitest"
import { Scheduler } from "@kinora/scheduler"
import { DateTime, Effect, Logger, Redacted, Schema } from "effect"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const token = "the token of the operators of this service"
const start = Host.start({ adminToken: Redacted.make(token) })

/** Sends requests with the operator's token. */
const operator = Effect.map(
  start,
  (send) => (method: string, path: string, body?: unknown) => send(method, `/admin/v1${path}`, { key: token, body })
)

const Account = Schema.Struct({ id: Schema.String, email: Schema.String, status: Schema.String, plans: Schema.Json })
const accountOf = Schema.decodeUnknownSync(Account)
const pageOf = Schema.decodeUnknownSync(
  Schema.Struct({ data: Schema.Array(Account), next_cursor: Schema.NullOr(Schema.String) })
)
const statementOf = Schema.decodeUnknownSync(
  Schema.Struct({
    data: Schema.Array(Schema.Struct({ kind: Schema.String, reference: Schema.String })),
    next_cursor: Schema.NullOr(Schema.String)
  })
)
const NewKey = Schema.Struct({ id: Schema.String, key: Schema.String, prefix: Schema.String })
const keyOf = Schema.decodeUnknownSync(NewKey)
const Lot = Schema.Struct({ id: Schema.String, remaining: Schema.Number })
const lotOf = Schema.decodeUnknownSync(Lot)

const unknownAccount = "acct_00000000000000000000000000"
const periodEnd = "2027-01-31T00:00:00.000Z"

it.effect("returns 404 for every path if no token is configured", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const paths = ["/admin/v1/accounts", "/admin/v1/ledger/verify", "/admin/v1/openapi.json", `/admin/v1/accounts/x`]
    for (const path of paths) {
      for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH"]) {
        const answer = yield* send(method, path, { key: token })
        const unknown = yield* send(method, "/admins/v1/accounts", { key: token })
        assert.deepStrictEqual(errorOf(answer, "not_found"), errorOf(unknown, "not_found"))
        assert.notProperty(answer.headers, "allow")
        assert.deepStrictEqual(Object.keys(answer.headers), Object.keys(unknown.headers))
      }
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects a wrong token, counts it as a failed authentication, and always accepts the right one", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ adminToken: Redacted.make(token), failedAuthenticationsPerMinute: 4 })
    const path = "/admin/v1/ledger/verify"
    for (const key of [undefined, "wrong", `${token}x`, token.slice(0, -1)]) {
      const answer = yield* send("POST", path, { key })
      errorOf(answer, "unauthorized")
      assert.strictEqual(answer.headers["www-authenticate"], "Bearer")
      assert.strictEqual(limitOf(answer).limit, 4)
    }
    assert.deepStrictEqual(errorOf(yield* send("POST", path, { key: "wrong" }), "rate_limited").details, {
      scope: "auth"
    })
    // The API for clients counts against the same limit.
    errorOf(yield* send("GET", "/v1/models", { key: "wrong" }), "rate_limited")
    assert.strictEqual((yield* send("POST", path, { key: token })).status, 200)
    const { key } = yield* Host.openAccount()
    errorOf(yield* send("POST", path, { key, from: "203.0.113.77" }), "unauthorized")
    errorOf(yield* send("GET", "/v1/models", { key: token, from: "203.0.113.77" }), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns 405 for other methods, serves its OpenAPI document, and carries the request id", () =>
  Effect.gen(function*() {
    const send = yield* start
    const wrong = yield* send("PUT", "/admin/v1/accounts", { key: token, headers: { "x-request-id": "mine" } })
    errorOf(wrong, "method_not_allowed")
    assert.strictEqual(wrong.headers["allow"], "POST, GET, HEAD")
    assert.strictEqual(wrong.headers["x-request-id"], "mine")
    errorOf(yield* send("GET", "/admin/v1/unknown", { key: token }), "not_found")
    const document = yield* send("GET", "/admin/v1/openapi.json")
    assert.strictEqual(document.status, 200)
    assert.deepInclude(document.json, { openapi: "3.1.0" })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("creates one account per e-mail address and returns it", () =>
  Effect.gen(function*() {
    const send = yield* operator
    const created = yield* send("POST", "/accounts", { email: "ada@example.com" })
    assert.strictEqual(created.status, 201)
    const { id } = accountOf(created.json)
    assert.deepStrictEqual(created.json, {
      id,
      email: "ada@example.com",
      status: "active",
      created_at: DateTime.formatIso(Host.startedAt),
      deleted_at: null,
      balance_usd_cents: 0,
      plans: { studio: null, credits: null }
    })
    assert.deepStrictEqual((yield* send("GET", `/accounts/${id}`)).json, created.json)
    const taken = yield* send("POST", "/accounts", { email: "ADA@example.com" })
    assert.strictEqual(taken.status, 409)
    assert.deepInclude(taken.json, {
      error: {
        code: "email_taken",
        message: "Another account has this e-mail address; use that account or another address.",
        plan: null,
        details: {}
      }
    })
    assert.strictEqual(taken.headers["x-should-retry"], "false")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("lists accounts by address and status, page by page", () =>
  Effect.gen(function*() {
    const send = yield* operator
    for (const name of ["a", "b", "c"]) yield* send("POST", "/accounts", { email: `${name}@pages.example` })
    const list = Effect.fnUntraced(function*(query: string) {
      const { json, status } = yield* send("GET", `/accounts?search=PAGES.example${query}`)
      assert.strictEqual(status, 200)
      return pageOf(json)
    })
    const all = (yield* list("")).data
    assert.sameMembers(all.map(({ email }) => email), ["a@pages.example", "b@pages.example", "c@pages.example"])
    const first = yield* list("&limit=2")
    assert.deepStrictEqual(first.data, all.slice(0, 2))
    assert.deepStrictEqual(yield* list(`&limit=2&cursor=${first.next_cursor}`), {
      data: all.slice(2),
      next_cursor: null
    })
    assert.deepStrictEqual(yield* list("&limit=3"), { data: all, next_cursor: null })
    yield* send("POST", `/accounts/${all[1]!.id}/suspend`)
    assert.deepStrictEqual((yield* list("&status=suspended")).data.map(({ id }) => id), [all[1]!.id])
    for (const query of ["cursor=x", "limit=0", "limit=101", "status=new", `search=${"a".repeat(255)}`]) {
      errorOf(yield* send("GET", `/accounts?${query}`), "invalid_params")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("changes the e-mail address of an account", () =>
  Effect.gen(function*() {
    const send = yield* operator
    const created = accountOf((yield* send("POST", "/accounts", { email: "ada@example.com" })).json)
    yield* send("POST", "/accounts", { email: "bob@example.com" })
    const path = `/accounts/${created.id}`
    const changed = yield* send("PATCH", path, { email: "ada.new@example.com" })
    assert.deepStrictEqual(accountOf(changed.json), { ...created, email: "ada.new@example.com" })
    assert.deepStrictEqual((yield* send("GET", path)).json, changed.json)
    errorOf(yield* send("PATCH", path, { email: "BOB@example.com" }), "email_taken")
    errorOf(yield* send("PATCH", path, { email: "nobody" }), "invalid_request")
    errorOf(yield* send("PATCH", `/accounts/${unknownAccount}`, { email: "x@example.com" }), "not_found")
    assert.deepStrictEqual((yield* send("GET", path)).json, changed.json)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("lists every problem of a body with its path", () =>
  Effect.gen(function*() {
    const send = yield* operator
    const { id } = accountOf((yield* send("POST", "/accounts", { email: "ada@example.com" })).json)
    const lot = { reference: "a", kind: "addon", credits: 1, expires_at: periodEnd }
    const wrong: ReadonlyArray<readonly [method: string, path: string, body: unknown, paths: ReadonlyArray<string>]> = [
      ["POST", "/accounts", {}, ["email"]],
      ["POST", "/accounts", { email: "nobody" }, ["email"]],
      ["POST", "/accounts", { email: `${"a".repeat(250)}@example.com` }, ["email"]],
      ["POST", "/accounts", { email: "bob@example.com", plan: "pro" }, ["plan"]],
      ["POST", `/accounts/${id}/keys`, { name: "  " }, ["name"]],
      ["POST", `/accounts/${id}/keys`, { name: "x".repeat(101) }, ["name"]],
      ["PUT", `/accounts/${id}/plans/studio`, { tier: "business", period_end: "soon" }, ["tier", "period_end"]],
      ["PUT", `/accounts/${id}/plans/credits`, { tier: "scale", period_end: "2027-02-31T00:00:00Z" }, [
        "tier",
        "period_end"
      ]],
      // The year 0 does not exist.
      ["PUT", `/accounts/${id}/plans/credits`, { tier: "pro", period_end: "0000-12-31T00:00:00Z" }, ["period_end"]],
      ["POST", `/accounts/${id}/lots`, { ...lot, credits: 0, kind: "gift" }, ["kind", "credits"]],
      ["POST", `/accounts/${id}/lots`, { ...lot, credits: 1_000_000_000_001, reference: "" }, ["reference", "credits"]],
      ["POST", `/accounts/${id}/lots`, { ...lot, reference: "a\nb" }, ["reference"]],
      ["POST", `/accounts/${id}/deposits`, { reference: "", usd_cents: 0 }, ["reference", "usd_cents"]],
      ["POST", `/accounts/${id}/deposits`, { reference: "x".repeat(129), usd_cents: 1_000_000_001 }, [
        "reference",
        "usd_cents"
      ]],
      ["POST", `/accounts/${id}/deposits`, { reference: "a\nb", usd_cents: 1.5 }, ["reference", "usd_cents"]],
      ["POST", `/accounts/${id}/deposits`, { reference: "a", usd_cents: -1, currency: "EUR" }, [
        "currency",
        "usd_cents"
      ]],
      ["POST", `/accounts/${id}/lots`, { ...lot, expires_at: DateTime.formatIso(Host.startedAt) }, ["expires_at"]]
    ]
    const Issues = Schema.Struct({
      issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
    })
    for (const [method, path, body, paths] of wrong) {
      const { details } = errorOf(yield* send(method, path, body), "invalid_request")
      const { issues } = Schema.decodeUnknownSync(Issues)(details)
      assert.deepStrictEqual(issues.map(({ path }) => path), paths, JSON.stringify(body))
    }
    errorOf(yield* send("POST", "/ledger/verify?limit=0"), "invalid_params")
    errorOf(yield* send("POST", "/ledger/verify?cursor=a%00"), "invalid_params")
    errorOf(yield* send("POST", "/accounts", "{"), "invalid_request")
    errorOf(yield* send("POST", "/accounts", JSON.stringify({ email: "x".repeat(1024 * 1024) })), "payload_too_large")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns 404 for unknown and malformed ids", () =>
  Effect.gen(function*() {
    const send = yield* operator
    const { id } = accountOf((yield* send("POST", "/accounts", { email: "ada@example.com" })).json)
    for (const account of [unknownAccount, "x", "acct_", encodeURIComponent("../1"), `key_${id.slice(5)}`]) {
      const plan = { tier: "pro", period_end: periodEnd }
      errorOf(yield* send("GET", `/accounts/${account}`), "not_found")
      errorOf(yield* send("POST", `/accounts/${account}/suspend`), "not_found")
      errorOf(yield* send("POST", `/accounts/${account}/resume`), "not_found")
      errorOf(yield* send("GET", `/accounts/${account}/keys`), "not_found")
      errorOf(yield* send("POST", `/accounts/${account}/keys`, { name: "a" }), "not_found")
      errorOf(yield* send("PUT", `/accounts/${account}/plans/studio`, plan), "not_found")
      errorOf(yield* send("DELETE", `/accounts/${account}/plans/credits`), "not_found")
      const lot = { reference: "a", kind: "addon", credits: 1, expires_at: periodEnd }
      errorOf(yield* send("POST", `/accounts/${account}/lots`, lot), "not_found")
      const deposit = { reference: "a", usd_cents: 1 }
      errorOf(yield* send("POST", `/accounts/${account}/deposits`, deposit), "not_found")
      errorOf(yield* send("POST", `/ledger/verify?account=${account}`), "not_found")
    }
    errorOf(yield* send("DELETE", `/accounts/${id}/keys/key_00000000000000000000000000`), "not_found")
    errorOf(yield* send("DELETE", `/accounts/${id}/keys/x`), "not_found")
    errorOf(yield* send("PUT", `/accounts/${id}/plans/gold`, { tier: "pro", period_end: periodEnd }), "not_found")
    errorOf(yield* send("GET", "/generations/gen_00000000000000000000000000/ledger"), "not_found")
    errorOf(yield* send("GET", "/generations/x/ledger"), "not_found")
    for (const job of ["gen_00000000000000000000000000", "x"]) {
      errorOf(yield* send("GET", `/generations/${job}`), "not_found")
      errorOf(yield* send("POST", `/generations/${job}/cancel`), "not_found")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("creates keys that work until they are revoked, and returns each key once", () =>
  Effect.gen(function*() {
    const send = yield* start
    const admin = (method: string, path: string, body?: unknown) =>
      send(method, `/admin/v1${path}`, { key: token, body })
    const { id } = accountOf((yield* admin("POST", "/accounts", { email: "ada@example.com" })).json)
    const created = yield* admin("POST", `/accounts/${id}/keys`, { name: "first" })
    assert.strictEqual(created.status, 201)
    const { id: keyId, key, prefix } = keyOf(created.json)
    assert.isTrue(key.startsWith(prefix))
    assert.strictEqual((yield* send("GET", "/v1/models", { key })).status, 200)

    const budget = { credits_per_day: null, credits_per_month: null, jobs_per_day: null, jobs_per_month: null }
    const unrestricted = { expires_at: null, scopes: null, models: null, ip_ranges: null, budget, budget_max: budget }
    const createdAt = DateTime.formatIso(Host.startedAt)
    const record = { id: keyId, name: "first", prefix, ...unrestricted, created_at: createdAt, created_by: "owner" }
    const list = yield* admin("GET", `/accounts/${id}/keys`)
    assert.deepStrictEqual(list.json, { data: [{ ...record, used: null, last_used_at: null, revoked_at: null }] })
    assert.notInclude(list.text, key)

    for (let n = 0; n < 2; n++) {
      const revoked = yield* admin("DELETE", `/accounts/${id}/keys/${keyId}`)
      assert.deepStrictEqual([revoked.status, revoked.text], [204, ""])
    }
    errorOf(yield* send("GET", "/v1/models", { key }), "unauthorized")
    const { id: other } = accountOf((yield* admin("POST", "/accounts", { email: "bob@example.com" })).json)
    errorOf(yield* admin("DELETE", `/accounts/${other}/keys/${keyId}`), "not_found")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("shows the settings and the disk of the server", () =>
  Effect.gen(function*() {
    const setting = { variable: "KINORA_PORT", value: "4747", source: "default" }
    const disk = { freeBytes: 7, totalBytes: 9 }
    const adminToken = Redacted.make(token)
    const send = yield* Host.start({ adminToken, configuration: [setting], disk: Effect.succeed(disk) })
    const get = (path: string) => Effect.map(send("GET", `/admin/v1/${path}`, { key: token }), ({ json }) => json)
    assert.deepStrictEqual(yield* get("configuration"), { data: [setting] })
    assert.deepStrictEqual(yield* get("storage"), { disk: { free_bytes: 7, total_bytes: 9 } })
    const other = yield* Host.start({ adminToken })
    assert.deepStrictEqual((yield* other("GET", "/admin/v1/storage", { key: token })).json, { disk: null })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("creates keys with a budget, changes it and shows what is used", () =>
  Effect.gen(function*() {
    const send = yield* start
    const { account } = yield* Host.openAccount()
    const admin = (method: string, path: string, body?: unknown) =>
      send(method, `/admin/v1/accounts/${account.id}/keys${path}`, { key: token, body })
    const budget = { credits_per_day: 100, credits_per_month: null, jobs_per_day: null, jobs_per_month: 7 }
    const created = yield* admin("POST", "", { name: "limited", budget: { credits_per_day: 100, jobs_per_month: 7 } })
    assert.deepInclude(created.json, { budget })
    const { id, key } = keyOf(created.json)
    const job = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
    assert.strictEqual((yield* send("POST", "/v1/generations", { key, body: job })).status, 201)

    const use = { credits: 8, jobs: 1 }
    const changed = yield* admin("PATCH", `/${id}`, { budget: { credits_per_day: 10, jobs_per_month: null } })
    assert.strictEqual(changed.status, 200)
    assert.deepInclude(changed.json, {
      id,
      budget: { ...budget, credits_per_day: 10, jobs_per_month: null },
      budget_max: { ...budget, credits_per_day: 10, jobs_per_month: null },
      used: { day: use, month: use }
    })
    const { data } = Schema.decodeUnknownSync(Schema.Struct({ data: Schema.Array(Schema.Unknown) }))(
      (yield* admin("GET", "")).json
    )
    assert.deepInclude(data, changed.json)
    const other = { ...job, params: { prompt: "another lake" } }
    const refused = yield* send("POST", "/v1/generations", { key, body: other })
    assert.deepStrictEqual(errorOf(refused, "key_budget_exceeded").details, {
      budget: "credits_per_day",
      limit: 10,
      used: 8,
      required: 8,
      resets_at: "2026-11-22T00:00:00.000Z"
    })
    for (const limits of [{ jobs_per_day: -1 }, { jobs_per_day: 0.5 }, { jobs_per_day: 1e12 + 1 }, { jobs: 1 }]) {
      errorOf(yield* admin("POST", "", { name: "wrong", budget: limits }), "invalid_request")
      errorOf(yield* admin("PATCH", `/${id}`, { budget: limits }), "invalid_request")
    }
    errorOf(yield* admin("PATCH", `/${id}`, {}), "invalid_request")
    const entries = Effect.map(send("GET", "/admin/v1/audit?action=keys.updateKey", { key: token }), ({ text }) => text)
    const before = yield* entries
    assert.deepStrictEqual((yield* admin("PATCH", `/${id}`, { budget: {} })).json, changed.json)
    assert.strictEqual(yield* entries, before)
    errorOf(yield* admin("PATCH", "/key_00000000000000000000000000", { budget: {} }), "not_found")
    yield* admin("DELETE", `/${id}`)
    errorOf(yield* admin("PATCH", `/${id}`, { budget: {} }), "key_ended")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("renames a key, and records the change once", () =>
  Effect.gen(function*() {
    const send = yield* operator
    const { id } = accountOf((yield* send("POST", "/accounts", { email: "ada@example.com" })).json)
    const created = keyOf((yield* send("POST", `/accounts/${id}/keys`, { name: "first" })).json)
    const one = `/accounts/${id}/keys/${created.id}`
    const renamed = yield* send("PATCH", one, { name: "second" })
    assert.deepInclude(renamed.json, { id: created.id, name: "second", prefix: created.prefix })
    assert.deepStrictEqual((yield* send("PATCH", one, { name: "second" })).json, renamed.json)
    assert.deepStrictEqual(Object((yield* send("GET", `/accounts/${id}/keys`)).json).data, [renamed.json])
    const entries = Object((yield* send("GET", "/audit?action=keys.updateKey")).json).data
    assert.deepStrictEqual(
      entries.map(({ after, before, subject }: Readonly<Record<string, unknown>>) => ({ after, before, subject })),
      [{ subject: created.id, before: { name: "first" }, after: { account: id, name: "second" } }]
    )
    for (const name of ["", "  ", "a\u0000b", "x".repeat(101)]) {
      errorOf(yield* send("PATCH", one, { name }), "invalid_request")
    }
    // A change that is refused in part changes nothing.
    errorOf(yield* send("PATCH", one, { name: " ", budget: { jobs_per_day: 1 } }), "invalid_request")
    assert.deepStrictEqual(Object((yield* send("GET", `/accounts/${id}/keys`)).json).data, [renamed.json])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("limits the keys of an account", () =>
  Effect.gen(function*() {
    const send = yield* operator
    const { id } = accountOf((yield* send("POST", "/accounts", { email: "ada@example.com" })).json)
    for (let n = 0; n < 100; n++) {
      assert.strictEqual((yield* send("POST", `/accounts/${id}/keys`, { name: `key ${n}` })).status, 201)
    }
    const refused = yield* send("POST", `/accounts/${id}/keys`, { name: "one more" })
    assert.strictEqual(refused.status, 409)
    assert.deepInclude(Object(refused.json).error, { code: "too_many_keys", details: { keys_max: 100 } })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("suspends and resumes an account", () =>
  Effect.gen(function*() {
    const send = yield* start
    const { account, key } = yield* Host.openAccount()
    const admin = (action: string) => send("POST", `/admin/v1/accounts/${account.id}/${action}`, { key: token })
    for (let n = 0; n < 2; n++) assert.strictEqual(accountOf((yield* admin("suspend")).json).status, "suspended")
    errorOf(yield* send("GET", "/v1/models", { key }), "account_suspended")
    for (let n = 0; n < 2; n++) assert.strictEqual(accountOf((yield* admin("resume")).json).status, "active")
    assert.strictEqual((yield* send("GET", "/v1/models", { key })).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("sets and ends the plan of each group", () =>
  Effect.gen(function*() {
    const send = yield* operator
    const { id } = accountOf((yield* send("POST", "/accounts", { email: "ada@example.com" })).json)
    const set = yield* send("PUT", `/accounts/${id}/plans/studio`, {
      tier: "scale",
      period_end: periodEnd,
      auto_renew: true
    })
    const studio = { tier: "scale", period_end: periodEnd, auto_renew: true, next_tier: null }
    assert.strictEqual(set.status, 200)
    assert.deepStrictEqual(accountOf(set.json).plans, { studio, credits: null })
    const both = yield* send("PUT", `/accounts/${id}/plans/credits`, { tier: "business", period_end: periodEnd })
    const credits = { tier: "business", period_end: periodEnd, auto_renew: false, next_tier: null }
    assert.deepStrictEqual(accountOf(both.json).plans, { studio, credits })
    for (let n = 0; n < 2; n++) {
      assert.strictEqual((yield* send("DELETE", `/accounts/${id}/plans/studio`)).status, 204)
    }
    assert.deepStrictEqual(accountOf((yield* send("GET", `/accounts/${id}`)).json).plans, { studio: null, credits })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("adds to the balance once per reference, and rejects the reference for another amount", () =>
  Effect.gen(function*() {
    const send = yield* operator
    const { id } = accountOf((yield* send("POST", "/accounts", { email: "ada@example.com" })).json)
    const other = accountOf((yield* send("POST", "/accounts", { email: "bob@example.com" })).json)
    const deposit = (reference: string, cents: number) =>
      send("POST", `/accounts/${id}/deposits`, { reference, usd_cents: cents })
    const balance = (account: string) =>
      Effect.map(send("GET", `/accounts/${account}`), ({ json }) => Object(json).balance_usd_cents)

    const first = yield* deposit("invoice 1", 2_900)
    assert.strictEqual(first.status, 201)
    assert.deepStrictEqual(first.json, {
      reference: "invoice 1",
      usd_cents: 2_900,
      balance_usd_cents: 2_900,
      created_at: DateTime.formatIso(Host.startedAt)
    })
    const second = yield* deposit("invoice 2", 1_000_000_000)
    assert.deepStrictEqual([second.status, Object(second.json).balance_usd_cents], [201, 1_000_002_900])

    const again = yield* deposit("invoice 1", 2_900)
    assert.strictEqual(again.status, 200)
    assert.deepStrictEqual(again.json, first.json)
    const refused = yield* deposit("invoice 1", 2_901)
    assert.strictEqual(refused.status, 409)
    assert.deepInclude(Object(refused.json).error, { code: "reference_reused", plan: null, details: {} })
    assert.strictEqual(refused.headers["x-should-retry"], "false")
    assert.deepStrictEqual([yield* balance(id), yield* balance(other.id)], [1_000_002_900, 0])
    // Each account has its own references.
    const others = yield* send("POST", `/accounts/${other.id}/deposits`, { reference: "invoice 1", usd_cents: 5 })
    assert.deepStrictEqual([others.status, Object(others.json).balance_usd_cents], [201, 5])
    assert.strictEqual(yield* balance(id), 1_000_002_900)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("takes from the balance once per reference, and never more than it has", () =>
  Effect.gen(function*() {
    const send = yield* operator
    const { id } = accountOf((yield* send("POST", "/accounts", { email: "ada@example.com" })).json)
    const debit = (reference: string, cents: number) =>
      send("POST", `/accounts/${id}/debits`, { reference, usd_cents: cents })
    yield* send("POST", `/accounts/${id}/deposits`, { reference: "a", usd_cents: 100 })
    const first = yield* debit("a", 60)
    assert.strictEqual(first.status, 201)
    assert.deepInclude(first.json, { reference: "a", usd_cents: 60, balance_usd_cents: 40 })
    const again = yield* debit("a", 60)
    assert.deepStrictEqual([again.status, again.json], [200, first.json])
    assert.deepInclude(errorOf(yield* debit("a", 61), "reference_reused"), { plan: null })
    const { details } = errorOf(yield* debit("b", 41), "insufficient_balance")
    assert.deepStrictEqual(details, { required_usd_cents: 41, available_usd_cents: 40 })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("subscribes to plans, changes their tier and stops their renewal", () =>
  Effect.gen(function*() {
    const send = yield* operator
    const { id } = accountOf((yield* send("POST", "/accounts", { email: "ada@example.com" })).json)
    const path = `/accounts/${id}/plans/credits/subscription`
    const subscribe = (tier: string) => send("PUT", path, { tier })
    const { details } = errorOf(yield* subscribe("starter"), "insufficient_balance")
    assert.deepStrictEqual(details, { required_usd_cents: 1_000, available_usd_cents: 0 })
    errorOf(yield* send("DELETE", path), "plan_not_active")
    yield* send("POST", `/accounts/${id}/deposits`, { reference: "a", usd_cents: 10_000 })

    const period_end = DateTime.formatIso(DateTime.add(Host.startedAt, { days: 30 }))
    const starter = { tier: "starter", period_end, auto_renew: true, next_tier: null }
    const pro = { ...starter, tier: "pro" }
    const started = { outcome: "started", usd_cents: 1_000, credits: 1_000, plan: starter }
    assert.deepStrictEqual((yield* subscribe("starter")).json, started)
    const continued = { ...started, outcome: "continued", usd_cents: 0, credits: 0 }
    assert.deepStrictEqual((yield* subscribe("starter")).json, continued)
    // Nothing of the period has passed, so the whole difference is paid.
    const raised = { outcome: "raised", usd_cents: 3_500, credits: 4_000, plan: pro }
    assert.deepStrictEqual((yield* subscribe("pro")).json, raised)
    const scheduled = { ...continued, outcome: "scheduled", plan: { ...pro, next_tier: "starter" } }
    assert.deepStrictEqual((yield* subscribe("starter")).json, scheduled)

    const { json: balances } = yield* send("GET", `/accounts/${id}/balances`)
    const lots = Object(balances).lots.map((lot: object) => lot)
    assert.deepStrictEqual(
      lots.map(({ credits, expires_at, kind }: Record<string, unknown>) => [kind, credits, expires_at]),
      [
        ["plan", 1_000, period_end],
        ["plan", 4_000, period_end]
      ]
    )
    for (let n = 0; n < 2; n++) assert.strictEqual((yield* send("DELETE", path)).status, 204)
    const { json: after } = yield* send("GET", `/accounts/${id}`)
    assert.deepStrictEqual(accountOf(after).plans, { studio: null, credits: { ...pro, auto_renew: false } })
    assert.strictEqual(Object(after).balance_usd_cents, 5_500)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("grants a lot once per reference, and rejects the reference for another grant", () =>
  Effect.gen(function*() {
    const send = yield* start
    const admin = (body: unknown) => send("POST", `/admin/v1/accounts/${account.id}/lots`, { key: token, body })
    const { account, key } = yield* Host.openAccount({ credits: 0 })
    const request = { reference: "invoice 1", kind: "addon", credits: 50, expires_at: periodEnd }
    const created = yield* admin(request)
    assert.strictEqual(created.status, 201)
    const { id } = lotOf(created.json)
    assert.deepStrictEqual(created.json, {
      id,
      ...request,
      remaining: 50,
      images_only: false,
      watermark: false,
      created_at: DateTime.formatIso(Host.startedAt)
    })
    const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
    assert.strictEqual((yield* send("POST", "/v1/generations", { key, body })).status, 201)
    const again = yield* admin({ ...request, images_only: false })
    assert.strictEqual(again.status, 200)
    assert.deepStrictEqual(lotOf(again.json), { id, remaining: 42 })

    const others = [{ credits: 51 }, { kind: "plan" }, { images_only: true }, {
      expires_at: "2027-01-31T00:00:00.001Z"
    }]
    for (const other of others) {
      const refused = yield* admin({ ...request, ...other })
      assert.strictEqual(refused.status, 409)
      assert.deepInclude(Object(refused.json).error, { code: "reference_reused", plan: null, details: {} })
    }
    assert.strictEqual((yield* Host.balances(account)).credits, 42)
    const trial = yield* admin({ ...request, reference: "trial", kind: "trial", images_only: true })
    assert.deepInclude(trial.json, { watermark: true, images_only: true })
    assert.strictEqual((yield* Host.balances(account)).credits, 42)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("lists the jobs of an account, shows any job, and cancels and refunds one that has not started", () =>
  Effect.gen(function*() {
    const send = yield* start
    const operate = (method: string, path: string) => send(method, `/admin/v1${path}`, { key: token })
    const { account, key } = yield* Host.openAccount()
    const create = Effect.fnUntraced(function*(prompt: string) {
      const body = { plan: "credits", model: "kinora-still", params: { prompt } }
      return String(Object((yield* send("POST", "/v1/generations", { key, body })).json).id)
    })
    const first = yield* create("a lake")
    const second = yield* create("a sea")
    const List = Schema.Struct({
      data: Schema.Array(Schema.Struct({ id: Schema.String, account: Schema.String })),
      next_cursor: Schema.NullOr(Schema.String)
    })
    const page = (query: string) =>
      Effect.map(
        operate("GET", `/accounts/${account.id}/generations${query}`),
        ({ json }) => Schema.decodeUnknownSync(List)(json)
      )
    const { data: [newest], next_cursor } = yield* page("?limit=1")
    assert.deepStrictEqual([newest, next_cursor], [{ id: second, account: account.id }, second])
    assert.deepStrictEqual((yield* page(`?cursor=${next_cursor}`)).data.map(({ id }) => id), [first])

    const cancelled = yield* operate("POST", `/generations/${first}/cancel`)
    assert.deepInclude(cancelled.json, { id: first, account: account.id, status: "cancelled", refunded: true })
    const { json } = yield* operate("GET", `/generations/${first}`)
    assert.deepInclude(json, Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Json))(cancelled.json))
    const at = "2026-11-21T12:00:30.000Z"
    const step = { at, amount: null, attempt: null, webhook: null }
    const timeline = [
      { ...step, step: "created" },
      { ...step, step: "charged", amount: 8 },
      { ...step, step: "cancelled" },
      { ...step, step: "refunded", amount: 8 }
    ]
    assert.deepInclude(json, { run: null, timeline })
    const scheduler = yield* Scheduler.Scheduler
    const kinds = ["generation:kinora-still"]
    const lease = yield* scheduler.takeLease({
      id: "wrk_a",
      worker: "host/worker/7",
      kinds,
      slots: 1,
      ttl: "8 seconds"
    })
    const runOf = Effect.map(operate("GET", `/generations/${second}`), ({ json }) => Object(json).run)
    assert.deepStrictEqual(yield* runOf, { state: "queued", attempt: 0, worker: null })
    yield* scheduler.claim({ lease, worker: "host/worker/7", kinds, limit: 1 })
    assert.deepStrictEqual(yield* runOf, { state: "processing", attempt: 1, worker: "host/worker/7" })

    const intervene = (action: string, id = second) => operate("POST", `/generations/${id}/${action}`)
    assert.deepInclude((yield* intervene("requeue")).json, { id: second, status: "queued" })
    assert.deepStrictEqual(yield* runOf, { state: "queued", attempt: 0, worker: "host/worker/7" })
    for (const action of ["fail", "requeue"]) {
      assert.deepStrictEqual(errorOf(yield* intervene(action, first), "job_ended").details, { status: "cancelled" })
      errorOf(yield* intervene(action, "gen_00000000000000000000000000"), "not_found")
    }
    for (const _ of ["once", "again"]) {
      const { json } = yield* intervene("fail")
      assert.deepInclude(json, { id: second, status: "failed", refunded: true })
      assert.deepInclude(Object(json).error, { code: "generation_failed", reason: "internal" })
    }
    errorOf(yield* intervene("requeue"), "job_ended")

    const search = (query: string) =>
      Effect.map(operate("GET", `/generations?${query}`), ({ json }) => Schema.decodeUnknownSync(List)(json))
    const found = yield* search("limit=1")
    assert.deepStrictEqual([found.data.map(({ id }) => id), found.next_cursor], [[second], second])
    const queries = [
      "status=cancelled",
      "status=cancelled&model=kinora-still",
      `cursor=${second}`,
      `account=${account.id}&status=cancelled`
    ]
    for (const query of queries) assert.deepStrictEqual((yield* search(query)).data.map(({ id }) => id), [first], query)
    for (const query of ["model=gone-1", `created_before=${at}`, "created_after=2027-01-31T00:00:00Z"]) {
      assert.deepStrictEqual(yield* search(query), { data: [], next_cursor: null }, query)
    }
    errorOf(yield* operate("GET", "/generations?account=nobody"), "not_found")
    for (const query of ["cursor=x", "model=%00", "created_after=today", "limit=0"]) {
      errorOf(yield* operate("GET", `/generations?${query}`), "invalid_params")
    }
    assert.deepStrictEqual((yield* page("?status=cancelled")).data.map(({ id }) => id), [first])
    // Idempotent.
    assert.strictEqual((yield* operate("POST", `/generations/${first}/cancel`)).status, 200)
    errorOf(yield* operate("GET", `/accounts/${account.id}/generations?cursor=x`), "invalid_params")
    errorOf(yield* operate("GET", `/accounts/${account.id}/generations?status=done`), "invalid_params")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("lists the bookings of a job, oldest first", () =>
  Effect.gen(function*() {
    const send = yield* start
    const { account, key } = yield* Host.openAccount()
    const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
    const Created = Schema.Struct({ id: Schema.String })
    const job = Schema.decodeUnknownSync(Created)((yield* send("POST", "/v1/generations", { key, body })).json).id
    yield* send("POST", `/v1/generations/${job}/cancel`, { key })
    const { json } = yield* send("GET", `/admin/v1/generations/${job}/ledger`, { key: token })
    const Bookings = Schema.Struct({
      data: Schema.Array(Schema.Struct({
        id: Schema.String,
        account: Schema.String,
        kind: Schema.String,
        reference: Schema.String,
        created_at: Schema.String,
        amount: Schema.Number,
        reverses: Schema.NullOr(Schema.String),
        entries: Schema.Array(Schema.Struct({ from: Schema.String, to: Schema.String, amount: Schema.Number }))
      }))
    })
    const { data: [charge, refund, ...others] } = Schema.decodeUnknownSync(Bookings, { onExcessProperty: "error" })(
      json
    )
    assert.isEmpty(others)
    assert.deepInclude(charge, { kind: "charge", account: account.id, reference: job, amount: 8, reverses: null })
    assert.deepInclude(refund, {
      kind: "refund",
      account: account.id,
      reference: job,
      amount: 8,
      reverses: charge?.id ?? ""
    })
    const lot = charge?.entries[0]?.from ?? ""
    assert.deepStrictEqual(charge?.entries, [{ from: lot, to: "consumed", amount: 8 }])
    assert.deepStrictEqual(refund?.entries, [{ from: "consumed", to: lot, amount: 8 }])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("verifies the books of all accounts page by page, or of one account", () =>
  Effect.gen(function*() {
    const send = yield* operator
    const opened = yield* Effect.forEach(["a", "b", "c"], (name) => Host.openAccount({ email: `${name}@example.com` }))
    const whole = yield* send("POST", "/ledger/verify")
    assert.deepStrictEqual(whole.json, {
      accounts: 3,
      totals: { granted: 300, remaining: 300, held: 0, consumed: 0, expired: 0 },
      discrepancies: [],
      next_cursor: null
    })
    const Page = Schema.Struct({ accounts: Schema.Number, next_cursor: Schema.NullOr(Schema.String) })
    const pageOf = Schema.decodeUnknownSync(Page)
    const first = pageOf((yield* send("POST", "/ledger/verify?limit=2")).json)
    const second = pageOf((yield* send("POST", `/ledger/verify?limit=2&cursor=${first.next_cursor}`)).json)
    assert.deepStrictEqual([first.accounts, second.accounts, second.next_cursor], [2, 1, null])
    const one = yield* send("POST", `/ledger/verify?account=${opened[1]?.account.id}`)
    assert.deepInclude(one.json, { accounts: 1, next_cursor: null })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("sums up the books of all accounts in a trial balance", () =>
  Effect.gen(function*() {
    const send = yield* operator
    yield* Effect.forEach(["a", "b", "c"], (name) => Host.openAccount({ email: `${name}@example.com` }))
    const { json } = yield* send("GET", "/ledger/trial-balance")
    assert.deepStrictEqual(json, {
      data: [
        { class: "granted", unit: "credits", debits: 0, credits: 300, balance: -300 },
        { class: "remaining", unit: "credits", debits: 300, credits: 0, balance: 300 },
        { class: "held", unit: "credits", debits: 0, credits: 0, balance: 0 },
        { class: "consumed", unit: "credits", debits: 0, credits: 0, balance: 0 },
        { class: "expired", unit: "credits", debits: 0, credits: 0, balance: 0 },
        { class: "allowance", unit: "jobs", debits: 0, credits: 0, balance: 0 },
        { class: "used", unit: "jobs", debits: 0, credits: 0, balance: 0 }
      ],
      booked: 300,
      balanced: true
    })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("logs each change with its subject and without secrets", () =>
  Effect.gen(function*() {
    const logged: Array<string> = []
    const keep = Logger.make(({ message }) => {
      logged.push(JSON.stringify(message))
    })
    yield* Effect.gen(function*() {
      const send = yield* operator
      const { id } = accountOf((yield* send("POST", "/accounts", { email: "ada@example.com" })).json)
      const { id: key, key: secret } = keyOf((yield* send("POST", `/accounts/${id}/keys`, { name: "first" })).json)
      yield* send("PUT", `/accounts/${id}/plans/studio`, { tier: "pro", period_end: periodEnd })
      const lot = { reference: "a", kind: "addon", credits: 1, expires_at: periodEnd }
      yield* send("POST", `/accounts/${id}/lots`, lot)
      yield* send("POST", `/accounts/${id}/lots`, lot)
      yield* send("POST", `/accounts/${id}/deposits`, { reference: "a", usd_cents: 2_900 })
      yield* send("POST", `/accounts/${id}/deposits`, { reference: "a", usd_cents: 2_900 })
      yield* send("POST", `/accounts/${id}/suspend`)
      yield* send("POST", `/accounts/${id}/resume`)
      yield* send("DELETE", `/accounts/${id}/keys/${key}`)
      yield* send("GET", `/accounts/${id}`)
      assert.strictEqual(logged.length, 8, logged.join("\n"))
      for (const line of logged) {
        assert.include(line, id)
        assert.notInclude(line, secret)
        assert.notInclude(line, token)
        assert.notInclude(line, "ada@")
      }
    }).pipe(Effect.provide(Logger.layer([keep])))
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns the credits of an account, and its bookings page by page", () =>
  Effect.gen(function*() {
    const send = yield* operator
    const { id } = accountOf((yield* send("POST", "/accounts", { email: "ada@example.com" })).json)
    for (const [reference, kind, credits, images_only] of [["a", "addon", 10, true], ["b", "plan", 5, false]]) {
      yield* send("POST", `/accounts/${id}/lots`, { reference, kind, credits, images_only, expires_at: periodEnd })
    }
    yield* send("POST", `/accounts/${id}/lots`, { reference: "c", kind: "trial", credits: 7, expires_at: periodEnd })
    const balances = yield* send("GET", `/accounts/${id}/balances`)
    assert.deepInclude(balances.json, { credits: 15, credits_images_only: 10, quota_used: { images: 0, videos: 0 } })
    const { lots } = Schema.decodeUnknownSync(
      Schema.Struct({ lots: Schema.Array(Schema.Struct({ kind: Schema.String })) })
    )(
      balances.json
    )
    assert.sameMembers(lots.map(({ kind }) => kind), ["addon", "plan", "trial"])

    const list = (query: string) =>
      Effect.map(send("GET", `/accounts/${id}/transactions${query}`), ({ json }) => statementOf(json))
    const all = yield* list("")
    assert.deepStrictEqual([all.data.length, all.next_cursor], [3, null])
    const first = yield* list("?limit=2")
    assert.deepStrictEqual(first.data, all.data.slice(0, 2))
    assert.deepStrictEqual((yield* list(`?limit=2&cursor=${first.next_cursor}`)).data, all.data.slice(2))
    for (const query of ["limit=0", "limit=1001", "cursor=x"]) {
      errorOf(yield* send("GET", `/accounts/${id}/transactions?${query}`), "invalid_params")
    }
    errorOf(yield* send("GET", `/accounts/${unknownAccount}/balances`), "not_found")
    errorOf(yield* send("GET", `/accounts/${unknownAccount}/transactions`), "not_found")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
