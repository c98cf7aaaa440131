import { assert, it } from "@effect/vitest"
import { GenerationStore } from "@kinora/generations"
import { GenerationId } from "@kinora/generations/Generation"
import { Webhooks, WebhookStore } from "@kinora/webhooks"
import { DateTime, Effect, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Host from "./Host.ts"

const token = "the token of the operators of this service"

const Detail = Schema.Struct({
  timeline: Schema.Array(Schema.Struct({
    at: Schema.String,
    step: Schema.String,
    amount: Schema.NullOr(Schema.Int),
    attempt: Schema.NullOr(Schema.Struct({ number: Schema.Int, worker: Schema.String })),
    webhook: Schema.NullOr(Schema.Record(Schema.String, Schema.Json))
  })),
  deliveries: Schema.Array(Schema.Struct({
    id: Schema.String,
    event_id: Schema.String,
    endpoint_id: Schema.String,
    type: Schema.String,
    subject: Schema.String,
    status: Schema.String,
    failed_sends: Schema.Int,
    due_at: Schema.NullOr(Schema.String)
  }))
})

/** An account with a webhook endpoint, and a job that costs 8 credits. */
const open = Effect.gen(function*() {
  const send = yield* Host.start({ adminToken: Redacted.make(token) })
  const webhooks = yield* Webhooks.Webhooks
  const store = yield* WebhookStore.WebhookStore
  const { account, key } = yield* Host.openAccount()
  const { endpoint: { id: endpoint } } = yield* webhooks.create(account.id, { url: "https://hooks.example.com/kinora" })
  const operate = (method: string, path: string) => send(method, `/admin/v1/generations/${path}`, { key: token })
  const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
  const { json } = yield* send("POST", "/v1/generations", { key, body })
  const job = String(Object(json).id)
  const read = Effect.map(operate("GET", job), ({ json }) => Schema.decodeUnknownSync(Detail)(json))

  /** Settles the due deliveries of the endpoint as a delivery worker does. */
  const deliver = Effect.fnUntraced(function*(reason: "ok" | "timeout") {
    const at = yield* DateTime.now
    const claimed = yield* store.claim([{ endpoint, limit: 10 }], at, DateTime.add(at, { seconds: 30 }))
    const outcome = reason === "ok" ? { reason, httpStatus: 204 } as const : { reason, httpStatus: null } as const
    const dueAt = DateTime.add(at, { seconds: 10 })
    yield* store.settle(claimed.map(({ attempt, claims, delivery }) => ({
      delivery,
      claims,
      next: reason === "ok" ? { _tag: "Delivered" } : { _tag: "Again", dueAt },
      send: { outcome, attempt, at, durationMillis: 12 }
    })))
  })

  return { account: account.id, deliver, endpoint, job, operate, read, store, webhooks }
})

it.effect("shows the webhook events of a job with failed and successful attempts, until they are deleted", () =>
  Effect.gen(function*() {
    const { deliver, endpoint, job, operate, read, store } = yield* open
    assert.deepStrictEqual((yield* read).deliveries, [])
    yield* TestClock.adjust("5 seconds")
    yield* operate("POST", `${job}/fail`)
    yield* deliver("timeout")
    const [pending] = (yield* read).deliveries
    assert.deepInclude(pending, {
      endpoint_id: endpoint,
      type: "generation.failed",
      subject: job,
      status: "pending",
      failed_sends: 1,
      due_at: "2026-11-21T12:00:45.000Z"
    })
    yield* TestClock.adjust("10 seconds")
    yield* deliver("ok")

    const { deliveries: [delivered], timeline } = yield* read
    assert.deepStrictEqual(delivered, { ...pending!, status: "delivered", due_at: null })
    const event = { event_id: pending?.event_id, type: "generation.failed" }
    const attempt = { ...event, endpoint_id: endpoint, delivery_id: pending?.id }
    const none = { endpoint_id: null, delivery_id: null, attempt: null, http_status: null, reason: null }
    const created = "2026-11-21T12:00:30.000Z"
    const ended = "2026-11-21T12:00:35.000Z"
    const sent = "2026-11-21T12:00:45.000Z"
    assert.deepStrictEqual<unknown>(timeline.map(({ at, step, webhook }) => [at, step, webhook]), [
      [created, "created", null],
      [created, "charged", null],
      [ended, "failed_by_operator", null],
      [ended, "refunded", null],
      [ended, "event_published", { ...event, ...none }],
      [ended, "event_sent", { ...attempt, attempt: 1, http_status: null, reason: "timeout" }],
      [sent, "event_sent", { ...attempt, attempt: 2, http_status: 204, reason: "ok" }]
    ])

    while ((yield* store.sweep(DateTime.add(yield* DateTime.now, { days: 1 }), 100)) > 0);
    const after = yield* read
    assert.deepStrictEqual(after.deliveries, [])
    assert.deepStrictEqual(after.timeline.map(({ step }) => step), [
      "created",
      "charged",
      "failed_by_operator",
      "refunded"
    ])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("shows each attempt of a job, and that an operator failed it", () =>
  Effect.gen(function*() {
    const { job, operate, read } = yield* open
    const generations = yield* GenerationStore.GenerationStore
    const id = GenerationId.parse(job)!
    const steps = (from: number) =>
      Effect.map(read, ({ timeline }) =>
        timeline.slice(from).map(({ at, attempt, step }) => [at.slice(17, 19), step, attempt]))
    const start = Effect.fnUntraced(function*(attempt: number, epoch: number, worker: string) {
      yield* TestClock.adjust("1 second")
      yield* generations.start([{ id, at: yield* DateTime.now, attempt, epoch, worker }])
    })
    const leave = Effect.fnUntraced(function*(end: GenerationStore.AttemptEnd) {
      yield* TestClock.adjust("1 second")
      yield* generations.endAttempts([{ id, epoch: undefined }], yield* DateTime.now, end)
    })
    yield* start(1, 1, "a")
    yield* leave("lost")
    yield* start(2, 2, "b")
    yield* leave("returned")
    yield* start(2, 3, "c")
    yield* leave("requeued")
    yield* start(2, 4, "d")
    const attempts = [
      ["31", "started", { number: 1, worker: "a" }],
      ["32", "lost", { number: 1, worker: "a" }],
      ["33", "started", { number: 2, worker: "b" }],
      ["34", "returned", { number: 2, worker: "b" }],
      ["35", "started", { number: 2, worker: "c" }],
      ["36", "requeued", { number: 2, worker: "c" }],
      ["37", "started", { number: 2, worker: "d" }]
    ]
    assert.deepStrictEqual<unknown>(yield* steps(2), attempts)
    yield* operate("POST", `${job}/fail`)
    const ended = [["37", "failed_by_operator", null], ["37", "refunded", null]]
    assert.deepStrictEqual<unknown>((yield* steps(2)).slice(0, 9), [...attempts, ...ended])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("shows the first start of a job with more attempts than are kept", () =>
  Effect.gen(function*() {
    const { job, read } = yield* open
    const generations = yield* GenerationStore.GenerationStore
    const id = GenerationId.parse(job)!
    for (let epoch = 1; epoch <= GenerationStore.attemptsKept + 1; epoch++) {
      yield* TestClock.adjust("1 second")
      yield* generations.start([{ id, at: yield* DateTime.now, attempt: epoch, epoch, worker: "a" }])
    }
    const starts = (yield* read).timeline.filter(({ step }) => step === "started")
    assert.strictEqual(starts.length, GenerationStore.attemptsKept + 1)
    assert.deepStrictEqual(
      starts.slice(0, 2).map(({ at, attempt }) => [at, attempt]),
      [["2026-11-21T12:00:31.000Z", null], ["2026-11-21T12:00:32.000Z", { number: 2, worker: "a" }]]
    )
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("shows a cancelled job, which has no webhook events", () =>
  Effect.gen(function*() {
    const cancelled = yield* open
    yield* cancelled.operate("POST", `${cancelled.job}/cancel`)
    const steps = Effect.map(cancelled.read, ({ timeline }) => timeline.map(({ step }) => step))
    assert.deepStrictEqual(yield* steps, ["created", "charged", "cancelled", "refunded"])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("omits the deliveries of endpoints that were removed", () =>
  Effect.gen(function*() {
    const { account, deliver, endpoint, job, operate, read, webhooks } = yield* open
    yield* operate("POST", `${job}/fail`)
    yield* deliver("ok")
    assert.strictEqual((yield* read).deliveries.length, 1)
    yield* webhooks.remove(account, endpoint)
    assert.deepStrictEqual((yield* read).deliveries, [])
    assert.notInclude((yield* read).timeline.map(({ step }) => step), "event_sent")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
