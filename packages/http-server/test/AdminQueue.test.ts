import { assert, it } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { DatabaseTime } from "@kinora/persistence"
import { Scheduler } from "@kinora/scheduler"
import { SkewedClock } from "@kinora/testkit"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const token = "the token of the operators of this service"

/** Sends requests with the operator's token, and returns the JSON of each response. */
const operator = Effect.map(
  Host.start({ adminToken: Redacted.make(token) }),
  (send) => ({
    send,
    get: (path: string) => Effect.map(send("GET", `/admin/v1${path}`, { key: token }), ({ json }) => json),
    refused: (path: string, code: Parameters<typeof errorOf>[1]) =>
      Effect.map(send("GET", `/admin/v1${path}`, { key: token }), (answer) => errorOf(answer, code))
  })
)

it.effect("lists workers, the queues of models and the lanes of accounts", () =>
  Effect.gen(function*() {
    const { get, refused, send } = yield* operator
    const scheduler = yield* Scheduler.Scheduler
    const { account, key } = yield* Host.openAccount({ credits: 1_000 })
    const other = yield* Host.openAccount({ email: "other@example.com", credits: 1_000 })
    const create = Effect.fnUntraced(function*(key: Redacted.Redacted, prompt: string) {
      const body = { plan: "credits", model: "kinora-still", params: { prompt } }
      assert.strictEqual((yield* send("POST", "/v1/generations", { key, body })).status, 201)
    })
    yield* create(key, "a lake")
    yield* create(key, "a sea")
    yield* create(other.key, "a lake")
    assert.deepStrictEqual(yield* get("/workers"), { data: [], next_cursor: null })

    yield* TestClock.adjust("90 seconds")
    const offer = { worker: "host/worker/7", slots: 4, ttl: "8 seconds" } as const
    // The second model is an id that the catalog does not have.
    const kinds = ["generation", "generation:kinora-still", "generation:gone-1"]
    const lease = yield* scheduler.takeLease({ ...offer, id: "wrk_a", kinds })
    yield* scheduler.takeLease({ ...offer, id: "wrk_b", kinds: [] })
    yield* scheduler.claim({ lease, worker: offer.worker, kinds, limit: 1 })
    const times = { started_at: "2026-11-21T12:02:00.000Z", lease_until: "2026-11-21T12:02:08.000Z" }
    const worker = { name: "host/worker/7", concurrency: 4, ...times }
    const workers = [
      { ...worker, id: "wrk_a", status: "running", models: ["gone-1", "kinora-still"], running_jobs: 1 },
      { ...worker, id: "wrk_b", status: "drained", models: [], running_jobs: 0 }
    ]
    assert.deepStrictEqual<unknown>(yield* get("/workers"), { data: workers, next_cursor: null })
    assert.deepStrictEqual<unknown>(yield* get("/workers?limit=1"), { data: [workers[0]], next_cursor: "wrk_a" })
    assert.deepStrictEqual<unknown>(yield* get("/workers?limit=1&cursor=wrk_a"), {
      data: [workers[1]],
      next_cursor: null
    })

    assert.strictEqual((yield* send("POST", "/admin/v1/workers/wrk_a/drain", { key: token })).status, 204)
    assert.deepInclude(yield* get("/workers?limit=1"), { data: [{ ...workers[0], status: "draining" }] })
    assert.strictEqual((yield* send("POST", "/admin/v1/workers/wrk_a/resume", { key: token })).status, 204)
    assert.deepStrictEqual<unknown>(yield* get("/workers?limit=1"), { data: [workers[0]], next_cursor: "wrk_a" })
    for (const id of ["wrk_c", "%00"]) {
      errorOf(yield* send("POST", `/admin/v1/workers/${id}/drain`, { key: token }), "not_found")
      errorOf(yield* send("POST", `/admin/v1/workers/${id}/resume`, { key: token }), "not_found")
    }

    const idle = { pending: 0, queued: 0, processing: 0, oldest_wait_seconds: null, workers: 0 }
    const queues = [
      { ...idle, model: "film-1", kind: "video" },
      { ...idle, model: "gone-1", kind: null, workers: 1 },
      { ...idle, model: "kinora-draft", kind: "image" },
      {
        ...idle,
        model: "kinora-still",
        kind: "image",
        queued: 2,
        processing: 1,
        oldest_wait_seconds: 90,
        workers: 1
      },
      { ...idle, model: "paused-1", kind: "image" },
      { ...idle, model: "remix-1", kind: "image" }
    ]
    assert.deepStrictEqual<unknown>(yield* get("/queue"), { data: queues, next_cursor: null })
    assert.deepStrictEqual<unknown>(yield* get("/queue?limit=4"), {
      data: queues.slice(0, 4),
      next_cursor: "kinora-still"
    })
    // Also if the model is no longer listed.
    for (const after of ["kinora-still", "kinora-z"]) {
      assert.deepStrictEqual<unknown>(yield* get(`/queue?limit=2&cursor=${after}`), {
        data: queues.slice(4),
        next_cursor: null
      })
    }
    for (const query of ["limit=0", "limit=101", "cursor=%00"]) yield* refused(`/queue?${query}`, "invalid_params")

    const slots = PlanTable.defaults.credits.pro.concurrency
    const lanes = [
      { account: account.id, plan: "credits", slots, pending: 0, queued: 1, processing: 1 },
      { account: other.account.id, plan: "credits", slots, pending: 0, queued: 1, processing: 0 }
    ].toSorted((a, b) => a.account < b.account ? -1 : 1)
    const [first, second] = lanes
    assert.deepStrictEqual<unknown>(yield* get("/queue/lanes"), { data: lanes, next_cursor: null })
    const cursor = `${first!.account}/${first!.plan}`
    assert.deepStrictEqual<unknown>(yield* get("/queue/lanes?limit=1"), { data: [first], next_cursor: cursor })
    assert.deepStrictEqual<unknown>(yield* get(`/queue/lanes?limit=1&cursor=${cursor}`), {
      data: [second],
      next_cursor: null
    })
    assert.deepStrictEqual<unknown>(yield* get(`/queue/lanes?account=${second!.account}`), {
      data: [second],
      next_cursor: null
    })
    yield* refused("/queue/lanes?account=nobody", "not_found")
    yield* refused("/queue/lanes?account=acct_00000000000000000000000000", "not_found")
    yield* refused("/queue/lanes?cursor=%00", "invalid_params")
    yield* refused("/workers?cursor=%00", "invalid_params")
    yield* refused("/workers?limit=101", "invalid_params")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect.each([120_000, -120_000])(
  "shows the wait of the oldest job by the clock of the database, %i ms off",
  (skew) =>
    Effect.gen(function*() {
      const onHost = SkewedClock.onHost(DatabaseTime.DatabaseClock, skew)
      const { get, send } = yield* onHost(operator)
      const { key } = yield* Host.openAccount({ credits: 1_000 })
      const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
      assert.strictEqual((yield* onHost(send("POST", "/v1/generations", { key, body }))).status, 201)
      yield* TestClock.adjust("90 seconds")
      const queue = yield* onHost(get("/queue?limit=1&cursor=kinora-draft"))
      assert.nestedPropertyVal(queue, "data[0].oldest_wait_seconds", 90)
    }).pipe(Effect.scoped, Effect.provide(Host.layer))
)
