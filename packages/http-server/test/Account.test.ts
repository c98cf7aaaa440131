import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { Generation } from "@kinora/generations"
import { CreditLots } from "@kinora/generations"
import { Account as Wire, Generation as WireGeneration, Usage } from "@kinora/http-api"
import { Ledger } from "@kinora/ledger"
import { StorageError } from "@kinora/persistence/StorageError"
import { Budget } from "@kinora/rate-limit"
import { DateTime, Duration, Effect, type Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const strictly = Schema.decodeUnknownSync(Wire.Account, { onExcessProperty: "error" })
const report = Schema.decodeUnknownSync(Usage.UsageReport, { onExcessProperty: "error" })

it.effect("returns both plan groups with exactly the documented properties", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ resultTtl: Duration.hours(48) })
    const { account, key } = yield* Host.openAccount()
    const { grant } = yield* Ledger.Ledger
    const at = Host.startedAt
    const expiresAt = DateTime.add(at, { days: 1 })
    yield* grant({
      account: account.id,
      reference: "welcome",
      kind: "trial",
      credits: 5,
      labels: [CreditLots.watermarkLabel],
      expiresAt,
      at
    })
    yield* send("POST", "/v1/generations", {
      key,
      body: { plan: "studio", model: "kinora-draft", params: { prompt: "a lake" } }
    })
    const { id } = yield* Host.addCompleted(account, new Uint8Array(7))
    yield* send("GET", `/v1/generations/${id}/content`, { key })

    const answer = yield* send("GET", "/v1/account", { key })
    assert.strictEqual(answer.status, 200, answer.text)
    strictly(answer.json)
    assert.deepStrictEqual(answer.json, {
      user: { id: account.id, email: "someone@example.com" },
      balance_usd_cents: 0,
      plans: {
        studio: {
          active: true,
          tier: "pro",
          period_end: "2026-12-21T12:00:30.000Z",
          auto_renew: false,
          quota: {
            day: "2026-11-21",
            resets_at: "2026-11-22T00:00:00.000Z",
            video: { limit: 20, used: 0, remaining: 20 },
            image: { limit: 200, used: 1, remaining: 199 }
          },
          concurrency: 2,
          create_rpm: 40
        },
        credits: {
          active: true,
          tier: "pro",
          period_end: "2026-12-21T12:00:30.000Z",
          auto_renew: false,
          credits_remaining: 100,
          lots: [
            {
              kind: "trial",
              remaining: 5,
              expires_at: "2026-11-22T12:00:30.000Z",
              images_only: false,
              watermark: true
            },
            {
              kind: "plan",
              remaining: 100,
              expires_at: "2026-12-21T12:00:30.000Z",
              images_only: false,
              watermark: false
            }
          ],
          concurrency: 4,
          create_rpm: 60
        }
      },
      api: { key_rpm_cap: 300, key_budget: null },
      results: {
        api_ttl_hours: 48,
        download: { user_gib_per_day: 50, used_bytes_today: 7, job_download_multiple: 10 }
      }
    })
    assert.strictEqual(limitOf(answer).limit, 300)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns the limits of the free level without a plan and after its period has ended", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const none = { active: false, tier: null, period_end: null, auto_renew: false, concurrency: 1, create_rpm: 10 }
    const { key: free } = yield* Host.openAccount({ plans: false, credits: 0 })
    const { key: lapsed } = yield* Host.openAccount({ email: "other@example.com" })
    yield* TestClock.adjust("30 days")
    for (const key of [free, lapsed]) {
      const { plans } = strictly((yield* send("GET", "/v1/account", { key })).json)
      assert.deepStrictEqual(plans, {
        studio: { ...none, quota: null },
        credits: { ...none, credits_remaining: 0, lots: [] }
      })
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns null for the bytes of the day if the counter is unavailable", () =>
  Effect.gen(function*() {
    const budget = yield* Budget.Budget
    const broken = new StorageError({ operation: "test", reason: "unavailable", cause: "inside" })
    const send = yield* Host.start().pipe(
      Effect.provideService(Budget.Budget, { ...budget, used: () => Effect.fail(broken) })
    )
    const { key } = yield* Host.openAccount()
    const { results } = strictly((yield* send("GET", "/v1/account", { key })).json)
    assert.isNull(results.download.used_bytes_today)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("reports jobs by the day on which they ended, for the last seven days by default", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    const create = Effect.fnUntraced(function*(prompt: string) {
      const body = { plan: "credits", model: "kinora-still", params: { prompt } }
      const { json } = yield* send("POST", "/v1/generations", { key, body })
      return Generation.GenerationId.parse(Schema.decodeUnknownSync(WireGeneration.Generation)(json).id)!
    })
    yield* Host.complete(yield* create("one"), new Uint8Array(1))
    yield* TestClock.adjust("1 day")
    yield* Host.complete(yield* create("two"), new Uint8Array(1))
    yield* Host.fail(yield* create("three"))
    const row = { plan: "credits", model: "kinora-still", kind: "image", cancelled: 0, credits: 8, completed: 1 }
    const before = { day: "2026-11-21", ...row, failed: 0 }
    const expected = {
      from: "2026-11-16",
      to: "2026-11-22",
      data: [before, { day: "2026-11-22", ...row, failed: 1 }],
      totals: { completed: 2, credits: 16 }
    }
    const answer = yield* send("GET", "/v1/usage", { key })
    report(answer.json)
    assert.deepStrictEqual(answer.json, expected)
    const first = yield* send("GET", "/v1/usage?to=2026-11-21", { key })
    assert.deepStrictEqual(first.json, {
      from: "2026-11-15",
      to: "2026-11-21",
      data: [before],
      totals: { completed: 1, credits: 8 }
    })
    const longest = report((yield* send("GET", "/v1/usage?from=2026-10-23", { key })).json)
    assert.deepStrictEqual([longest.from, longest.to, longest.data?.length], ["2026-10-23", "2026-11-22", 2])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("reports the jobs of a day by API key, with the names of the keys and without secrets", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ usageRowsMax: 2 })
    const { account, key, keyId } = yield* Host.openAccount()
    const { createKey, revokeKey } = yield* Accounts.Accounts
    const second = yield* createKey(account.id, "second")
    const create = Effect.fnUntraced(function*(prompt: string, key: Redacted.Redacted) {
      const body = { plan: "credits", model: "kinora-still", params: { prompt } }
      const { json } = yield* send("POST", "/v1/generations", { key, body })
      const { id } = Schema.decodeUnknownSync(WireGeneration.Generation)(json)
      yield* send("POST", `/v1/generations/${id}/cancel`, { key })
      return id
    })
    yield* create("one", key)
    const id = yield* create("two", second.key)
    yield* revokeKey(account.id, second.record.id)
    const answer = yield* send("GET", "/v1/usage?group_by=key", { key })
    const rows = report(answer.json).data ?? []
    assert.deepStrictEqual(
      new Set(rows.map(({ key }) => JSON.stringify(key))),
      new Set([
        JSON.stringify({ id: keyId, name: "test" }),
        JSON.stringify({ id: second.record.id, name: "second" })
      ])
    )
    assert.notInclude(answer.text, "kin_")
    const listed = yield* send("GET", `/v1/generations?key=${second.record.id}`, { key })
    assert.deepStrictEqual(
      Schema.decodeUnknownSync(WireGeneration.GenerationList)(listed.json).data.map(({ id }) => id),
      [id]
    )
    yield* TestClock.adjust("1 day")
    yield* create("three", key)
    errorOf(yield* send("GET", "/v1/usage?group_by=key", { key }), "invalid_range")
    errorOf(yield* send("GET", "/v1/usage?group_by=model", { key }), "invalid_params")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects an invalid range of days with invalid_range", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    const ranges = [
      "from=yesterday",
      "to=2026-2-3",
      "to=2026-02-30",
      "from=2026-02-29",
      "from=",
      "from=2026-11-22",
      "from=2026-11-02&to=2026-11-01",
      "from=2026-10-21",
      // The year 0 does not exist.
      "from=0000-12-31&to=0001-01-01",
      "to=0001-01-06",
      "from=2026-01-01&to=2026-02-01"
    ]
    for (const range of ranges) {
      const answer = yield* send("GET", `/v1/usage?${range}`, { key })
      assert.deepStrictEqual(errorOf(answer, "invalid_range").details, {}, range)
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
