import { assert, it } from "@effect/vitest"
import { Generation as Wire } from "@kinora/http-api"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
const studio = { plan: "studio", model: "kinora-draft", params: { prompt: "a lake" } }
const withPrompt = (prompt: string) => ({ ...body, params: { prompt } })

/** The end of the minute of `Host.startedAt`. */
const minuteEnd = Host.startedAt.epochMilliseconds / 1000 + 30

const strictly = Schema.decodeUnknownSync(Wire.Generation, { onExcessProperty: "error" })

const idOf = ({ json }: Host.Answer) => strictly(json).id

it.effect("creates a job with exactly the documented properties, and returns its location", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount()
    const answer = yield* send("POST", "/v1/generations", { key, body })
    assert.strictEqual(answer.status, 201, answer.text)
    const { id } = strictly(answer.json)
    assert.deepStrictEqual(answer.json, {
      id,
      model: "kinora-still",
      kind: "image",
      mode: "text_to_image",
      plan: "credits",
      status: "queued",
      prompt: "a lake",
      params: { aspect_ratio: "1:1", resolution: "1k" },
      cost_credits: 8,
      quota_kind: null,
      watermark: false,
      refunded: false,
      error_code: null,
      error: null,
      output: null,
      preview_url: null,
      thumb_url: null,
      poster_url: null,
      result_expires_at: null,
      queued_at: "2026-11-21T12:00:30.000Z",
      started_at: null,
      finished_at: null,
      created_at: "2026-11-21T12:00:30.000Z",
      next: { action: "poll", after_seconds: 1 }
    })
    assert.strictEqual(answer.headers["location"], `https://api.example.com/v1/generations/${id}`)
    assert.strictEqual(answer.headers["idempotent-replayed"], "false")
    assert.deepStrictEqual(limitOf(answer), { limit: 60, remaining: 59, reset: minuteEnd })
    assert.deepStrictEqual(yield* Host.balances(account), { credits: 92, quotaUsed: {} })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("puts links on the origin that the client used if no base URL is configured", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ baseUrl: undefined })
    const { key } = yield* Host.openAccount()
    const answer = yield* send("POST", "/v1/generations", { key, body, headers: { host: "kinora.test:8080" } })
    assert.strictEqual(answer.headers["location"], `http://kinora.test:8080/v1/generations/${idOf(answer)}`)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("charges a studio job to the daily quota, without credits", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount()
    const answer = yield* send("POST", "/v1/generations", { key, body: studio })
    assert.strictEqual(answer.status, 201, answer.text)
    const generation = strictly(answer.json)
    assert.isNull(generation.cost_credits)
    assert.strictEqual(generation.quota_kind, "image")
    assert.deepStrictEqual(limitOf(answer), { limit: 40, remaining: 39, reset: minuteEnd })
    assert.deepStrictEqual(yield* Host.balances(account), { credits: 100, quotaUsed: { image: 1 } })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("creates a pending job if no slot is free, with a longer poll interval", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    for (let n = 0; n < 4; n++) yield* send("POST", "/v1/generations", { key, body: withPrompt(`lake ${n}`) })
    const fifth = strictly((yield* send("POST", "/v1/generations", { key, body: withPrompt("lake 5") })).json)
    assert.strictEqual(fifth.status, "pending")
    assert.deepStrictEqual(fifth.next, { action: "poll", after_seconds: 5 })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns the first job with 200 for a repeated key, and charges once", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount()
    const headers = { "idempotency-key": "order 1" }
    const first = yield* send("POST", "/v1/generations", { key, body, headers })
    const reordered = `{ "params": {"prompt": "a lake"}, "model": "kinora-still",\n "plan": "credits" }`
    yield* TestClock.adjust("1 hour")
    const again = yield* send("POST", "/v1/generations", { key, body: reordered, headers })
    assert.strictEqual(again.status, 200, again.text)
    assert.strictEqual(idOf(again), idOf(first))
    assert.strictEqual(again.headers["idempotent-replayed"], "true")
    assert.strictEqual(again.headers["location"], first.headers["location"])
    assert.deepStrictEqual(yield* Host.balances(account), { credits: 92, quotaUsed: {} })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects a key that was used for another body with 422, and accepts it for its own body", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    const headers = { "idempotency-key": "order 1" }
    const first = yield* send("POST", "/v1/generations", { key, body, headers })
    const other = yield* send("POST", "/v1/generations", { key, body: withPrompt("a sea"), headers })
    errorOf(other, "idempotency_key_reused")
    assert.strictEqual(idOf(yield* send("POST", "/v1/generations", { key, body, headers })), idOf(first))
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns the first job for an identical request without a key within 120 seconds", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    const first = idOf(yield* send("POST", "/v1/generations", { key, body }))
    yield* TestClock.adjust("119 seconds")
    assert.strictEqual(idOf(yield* send("POST", "/v1/generations", { key, body })), first)
    yield* TestClock.adjust("1 second")
    const later = yield* send("POST", "/v1/generations", { key, body })
    assert.strictEqual(later.status, 201)
    assert.notStrictEqual(idOf(later), first)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("separates the keys of accounts", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const one = yield* Host.openAccount()
    const other = yield* Host.openAccount({ email: "other@example.com" })
    const headers = { "idempotency-key": "order 1" }
    const first = yield* send("POST", "/v1/generations", { key: one.key, body, headers })
    const second = yield* send("POST", "/v1/generations", { key: other.key, body, headers })
    assert.deepStrictEqual([first.status, second.status], [201, 201])
    assert.notStrictEqual(idOf(first), idOf(second))
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("limits creations by the tier of the plan until the minute ends, but not replays", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount({ plans: false, credits: 1000 })
    const create = (n: number) => send("POST", "/v1/generations", { key, body: withPrompt(`lake ${n}`) })
    for (let n = 0; n < 10; n++) {
      assert.deepStrictEqual(limitOf(yield* create(n)), { limit: 10, remaining: 9 - n, reset: minuteEnd })
    }
    const before = yield* Host.balances(account)
    const refused = yield* create(10)
    const error = errorOf(refused, "rate_limited")
    assert.strictEqual(error.plan, "credits")
    assert.deepStrictEqual(error.details, { scope: "plan" })
    assert.strictEqual(refused.headers["retry-after"], "30")
    assert.strictEqual(refused.headers["retry-after-ms"], "30000")
    assert.deepStrictEqual(limitOf(refused), { limit: 10, remaining: 0, reset: minuteEnd })
    assert.deepStrictEqual(yield* Host.balances(account), before)

    const replay = yield* create(3)
    assert.strictEqual(replay.status, 200)
    assert.deepStrictEqual(limitOf(replay), { limit: 10, remaining: 0, reset: minuteEnd })

    yield* TestClock.adjust("30 seconds")
    const next = yield* create(10)
    assert.strictEqual(next.status, 201)
    assert.deepStrictEqual(limitOf(next), { limit: 10, remaining: 9, reset: minuteEnd + 60 })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("refuses a creation beyond the limit before its images are decoded", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount({ plans: false, credits: 1000 })
    // Only decoding finds damage behind the header.
    const damaged = Buffer.from(Host.pixel)
    damaged[damaged.indexOf("IDAT") + 6]! ^= 0xff
    const images = [{ data: damaged.toString("base64") }]
    const create = send("POST", "/v1/generations", {
      key,
      body: { ...body, model: "remix-1", params: { prompt: "a lake", images } }
    })
    for (let n = 0; n < 10; n++) errorOf(yield* create, "invalid_image")
    errorOf(yield* create, "rate_limited")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("counts creations of each plan group separately", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    yield* send("POST", "/v1/generations", { key, body })
    const answer = yield* send("POST", "/v1/generations", { key, body: studio })
    assert.deepStrictEqual(limitOf(answer), { limit: 40, remaining: 39, reset: minuteEnd })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("accepts a key again after its request was rejected", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    const headers = { "idempotency-key": "order 1" }
    const wrong = { ...body, params: { prompt: "a lake", resolution: "8k" } }
    errorOf(yield* send("POST", "/v1/generations", { key, body: wrong, headers }), "invalid_params")
    assert.strictEqual((yield* send("POST", "/v1/generations", { key, body, headers })).status, 201)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("checks credentials, then the limit of the key, then the size, then the schema", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ keyRequestsPerMinute: 2, creatingBodyBytesMax: 100 })
    const { key } = yield* Host.openAccount()
    const tooLargeAndWrong = "x".repeat(101)
    errorOf(yield* send("POST", "/v1/generations", { key: "kin_wrong", body: tooLargeAndWrong }), "unauthorized")
    errorOf(yield* send("POST", "/v1/generations", { key, body: tooLargeAndWrong }), "payload_too_large")
    errorOf(yield* send("POST", "/v1/generations", { key, body: "x" }), "invalid_request")
    const limited = yield* send("POST", "/v1/generations", { key, body: tooLargeAndWrong })
    assert.deepStrictEqual(errorOf(limited, "rate_limited").details, { scope: "key" })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
