import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { DefaultModels } from "@kinora/catalog"
import { Generation, Generations, UpstreamReports } from "@kinora/generations"
import { Generation as WireGeneration, Model as WireModel } from "@kinora/http-api"
import { StorageError } from "@kinora/persistence/StorageError"
import { Scheduler } from "@kinora/scheduler"
import { DateTime, Deferred, Effect, Fiber, Logger, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Readiness from "../src/Readiness.ts"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
const strictly = Schema.decodeUnknownSync(WireGeneration.Generation, { onExcessProperty: "error" })

/** Creates a job over HTTP. */
const createOne = Effect.fnUntraced(function*() {
  const send = yield* Host.start()
  const { account, key, keyId } = yield* Host.openAccount()
  const created = strictly((yield* send("POST", "/v1/generations", { key, body })).json)
  return { send, account, key, keyId, id: Generation.GenerationId.parse(created.id)! }
})

it.effect("returns a completed job with links that expire with its result", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount()
    const { id } = yield* Host.addCompleted(account, new Uint8Array(5))
    const answer = yield* send("GET", `/v1/generations/${id}`, { key })
    assert.strictEqual(answer.status, 200)
    const generation = strictly(answer.json)
    const expiresAt = "2026-11-22T12:00:30.000Z"
    const exp = Date.parse(expiresAt) / 1000
    const link = new RegExp(`^https://api\\.example\\.com/v1/generations/${id}/(\\w+)\\?exp=${exp}&sig=[\\w-]{43}$`)
    assert.strictEqual(link.exec(generation.output?.url ?? "")?.[1], "content")
    assert.strictEqual(link.exec(generation.thumb_url ?? "")?.[1], "thumb")
    assert.isNull(generation.preview_url)
    assert.isNull(generation.poster_url)
    assert.strictEqual(generation.output?.mime, "image/png")
    assert.strictEqual(generation.output?.bytes, 5)
    assert.strictEqual(DateTime.formatIso(generation.output!.expires_at), expiresAt)
    assert.notProperty(answer.json, "next")

    yield* TestClock.adjust("24 hours")
    const after = strictly((yield* send("GET", `/v1/generations/${id}`, { key })).json)
    assert.isNull(after.output)
    assert.isNull(after.thumb_url)
    assert.strictEqual(DateTime.formatIso(after.result_expires_at!), expiresAt)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns why a job failed, and that it was refunded", () =>
  Effect.gen(function*() {
    const { id, key, send } = yield* createOne()
    yield* Host.fail(id)
    const generation = strictly((yield* send("GET", `/v1/generations/${id}`, { key })).json)
    assert.strictEqual(generation.status, "failed")
    assert.isTrue(generation.refunded)
    assert.strictEqual(generation.error_code, "content_rejected")
    assert.deepStrictEqual(generation.error, {
      code: "content_rejected",
      message: "The model refused the prompt.",
      reason: "safety"
    })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("cancels a waiting job and refunds it, and returns the same when repeated", () =>
  Effect.gen(function*() {
    const { account, id, key, send } = yield* createOne()
    for (let n = 0; n < 2; n++) {
      const answer = yield* send("POST", `/v1/generations/${id}/cancel`, { key })
      assert.strictEqual(answer.status, 200, answer.text)
      const generation = strictly(answer.json)
      assert.strictEqual(generation.status, "cancelled")
      assert.isTrue(generation.refunded)
    }
    assert.deepStrictEqual(yield* Host.balances(account), { credits: 100, quotaUsed: {} })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects cancelling a started or ended job, and sets `x-should-retry: false`", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount()
    const { id } = yield* Host.addCompleted(account, new Uint8Array(1))
    const answer = yield* send("POST", `/v1/generations/${id}/cancel`, { key })
    assert.deepStrictEqual(errorOf(answer, "not_cancellable").details, { status: "completed" })
    assert.strictEqual(answer.headers["x-should-retry"], "false")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("holds a request with wait until the job has ended", () =>
  Effect.gen(function*() {
    const { id, key, keyId, send } = yield* createOne()
    const waiting = yield* Effect.forkChild(send("GET", `/v1/generations/${id}?wait=30`, { key }))
    yield* Host.held("wait", keyId, 1)
    yield* TestClock.adjust("10 seconds")
    assert.isUndefined(waiting.pollUnsafe())
    yield* Host.fail(id)
    assert.strictEqual(strictly((yield* Fiber.join(waiting)).json).status, "failed")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns the current job when the wait ends, after at most 60 seconds", () =>
  Effect.gen(function*() {
    const { id, key, keyId, send } = yield* createOne()
    for (const [wait, seconds] of [["1", 1], ["60", 60], ["3600", 60], ["99999999999999999999", 60]] as const) {
      const waiting = yield* Effect.forkChild(send("GET", `/v1/generations/${id}?wait=${wait}`, { key }))
      yield* Host.held("wait", keyId, 1)
      yield* TestClock.adjust(`${seconds * 1000 - 1} millis`)
      assert.isUndefined(waiting.pollUnsafe(), wait)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(strictly((yield* Fiber.join(waiting)).json).status, "queued")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects a wait that is not an integer of at least 0", () =>
  Effect.gen(function*() {
    const { id, key, send } = yield* createOne()
    for (const wait of ["-1", "1.5", "ten", "", "1&wait=2"]) {
      const { details } = errorOf(yield* send("GET", `/v1/generations/${id}?wait=${wait}`, { key }), "invalid_params")
      assert.strictEqual((details["issues"] as ReadonlyArray<{ path: string }>)[0]?.path, "wait")
    }
    assert.strictEqual((yield* send("GET", `/v1/generations/${id}?wait=0`, { key })).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("responds immediately if the key has no place left, and frees the place of a client that disconnects", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ longPollsMax: 2 })
    const { key, keyId } = yield* Host.openAccount()
    const { id } = strictly((yield* send("POST", "/v1/generations", { key, body })).json)
    const wait = send("GET", `/v1/generations/${id}?wait=60`, { key })

    const first = yield* Effect.forkChild(wait)
    const second = yield* Effect.forkChild(wait)
    yield* Host.held("wait", keyId, 2)
    assert.strictEqual((yield* wait).status, 200)
    yield* Fiber.interrupt(first)
    yield* Host.held("wait", keyId, 1)
    yield* Fiber.interrupt(second)
    yield* Host.held("wait", keyId, 0)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("responds immediately if the account has no place left for its keys, and frees both places at once", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ accountLongPollsMax: 1 })
    const { account, key, keyId } = yield* Host.openAccount()
    const second = yield* Accounts.Accounts.use(({ createKey }) => createKey(account.id, "test"))
    const { id } = strictly((yield* send("POST", "/v1/generations", { key, body })).json)
    const wait = (key: Host.Sent["key"]) => send("GET", `/v1/generations/${id}?wait=60`, { key })

    const first = yield* Effect.forkChild(wait(key))
    yield* Host.held("wait", keyId, 1)
    assert.strictEqual((yield* wait(second.key)).status, 200)
    yield* Host.held("wait", second.record.id, 0)
    yield* Fiber.interrupt(first)
    yield* Host.held("wait", keyId, 0)
    const waiting = yield* Effect.forkChild(wait(second.key))
    yield* Host.held("wait", second.record.id, 1)
    yield* Fiber.interrupt(waiting)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("lists the models with exactly the documented properties", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    const answer = yield* send("GET", "/v1/models", { key })
    const { data } = Schema.decodeUnknownSync(WireModel.ModelList, { onExcessProperty: "error" })(answer.json)
    assert.deepStrictEqual(data?.map(({ id, status }) => [id, status]), [
      ["kinora-draft", "available"],
      ["kinora-still", "available"],
      ["paused-1", "paused"],
      ["remix-1", "available"],
      ["film-1", "available"]
    ])
    assert.deepStrictEqual(data?.[1]?.price_table?.[0], { params: { resolution: "1k" }, credits: 8 })
    assert.strictEqual(limitOf(answer).limit, 300)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("shows that a model is paused because its upstream fails, and rejects its jobs until a test is due", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount()
    const before = yield* Host.balances(account)
    const statuses = Effect.map(
      send("GET", "/v1/models", { key }),
      ({ json }) =>
        Object.fromEntries(
          (Schema.decodeUnknownSync(WireModel.ModelList)(json).data ?? []).map(({ id, status }) => [id, status])
        )
    )
    assert.strictEqual((yield* statuses)["kinora-still"], "available")
    const now = yield* DateTime.now
    const { put } = yield* UpstreamReports.UpstreamReports
    const { takeLease } = yield* Scheduler.Scheduler
    yield* takeLease({ id: "w", worker: "w", kinds: ["generation:kinora-still"], slots: 1, ttl: "1 hour" })
    yield* put("w", [{
      worker: "w",
      upstream: DefaultModels.still.driver.name,
      status: "paused",
      retryAt: DateTime.addDuration(now, "47500 millis"),
      until: DateTime.add(now, { hours: 1 })
    }], now)
    yield* TestClock.adjust("5 seconds")
    const during = yield* statuses
    assert.deepStrictEqual([during["kinora-still"], during["kinora-draft"]], ["paused", "available"])
    const one = yield* send("GET", "/v1/models/kinora-still", { key })
    assert.strictEqual(Schema.decodeUnknownSync(WireModel.Model)(one.json).status, "paused")

    const create = send("POST", "/v1/generations", {
      key,
      headers: { "idempotency-key": "again" },
      body: { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
    })
    const refused = yield* create
    errorOf(refused, "model_unavailable")
    assert.deepStrictEqual(
      [refused.headers["retry-after"], refused.headers["retry-after-ms"]],
      ["43", "42500"]
    )
    assert.deepStrictEqual(yield* Host.balances(account), before)
    yield* TestClock.adjust("42500 millis")
    assert.strictEqual((yield* statuses)["kinora-still"], "degraded")
    assert.strictEqual((yield* create).status, 201)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns one model as in the list, and 404 for others", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    const list = Schema.decodeUnknownSync(WireModel.ModelList)((yield* send("GET", "/v1/models", { key })).json)
    const one = yield* send("GET", "/v1/models/kinora-still", { key })
    assert.deepStrictEqual(Schema.decodeUnknownSync(WireModel.Model)(one.json), list.data?.[1])
    const { details } = errorOf(yield* send("GET", "/v1/models/gpt-image-1", { key }), "model_not_found")
    assert.deepStrictEqual(details, { model: "gpt-image-1" })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("lists the parts that are not ready", () =>
  Effect.gen(function*() {
    const send = yield* Host.start().pipe(
      Effect.provideService(Readiness.Readiness, { notReady: Effect.succeed(["database"]) })
    )
    const answer = yield* send("GET", "/readyz")
    assert.deepStrictEqual(errorOf(answer, "unavailable").details, { not_ready: ["database"] })
    assert.strictEqual(answer.headers["retry-after"], "1")
    assert.deepStrictEqual((yield* send("GET", "/healthz")).json, { status: "ok" })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("serves the OpenAPI document", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    assert.deepInclude((yield* send("GET", "/openapi.json")).json, { openapi: "3.1.0" })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns the request id of the caller, or a new one", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const ids = new Set<string>()
    for (const given of ["", "a".repeat(129), "é"]) {
      const { headers } = yield* send("GET", "/healthz", { headers: { "x-request-id": given } })
      assert.match(headers["x-request-id"] ?? "", /^req_[0-9a-f]{32}$/)
      ids.add(headers["x-request-id"]!)
    }
    assert.strictEqual(ids.size, 3)
    const { headers } = yield* send("GET", "/nothing", { headers: { "x-request-id": "trace 7" } })
    assert.strictEqual(headers["x-request-id"], "trace 7")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

/** Serves reads that fail like this, and collects the log. */
const brokenReads = Effect.fnUntraced(function*(read: Effect.Effect<never, StorageError>) {
  const generations = yield* Generations.Generations
  const logged: Array<string> = []
  const send = yield* Host.start().pipe(
    Effect.provideService(Generations.Generations, { ...generations, get: () => read }),
    Effect.provide(Logger.layer([
      Logger.map(Logger.formatLogFmt, (line) => {
        logged.push(line)
      })
    ]))
  )
  const { key } = yield* Host.openAccount()
  const answer = yield* send("GET", "/v1/generations/gen_1?sig=secret", { key, headers: { "x-request-id": "trace 7" } })
  return { answer, log: logged.join("\n") }
})

it.effect("does not expose a defect, and logs it under the request id", () =>
  Effect.gen(function*() {
    const { answer, log } = yield* brokenReads(Effect.die(new Error("the inside")))
    const error = errorOf(answer, "internal_error")
    assert.notInclude(answer.text, "inside")
    assert.deepStrictEqual(error.details, {})
    assert.include(log, "the inside")
    assert.include(log, "trace 7")
    assert.include(log, "GET /v1/generations/gen_1")
    assert.notInclude(log, "secret")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns 503 for storage failures that may pass, and 500 for others", () =>
  Effect.gen(function*() {
    const broken = (reason: StorageError["reason"]) => new StorageError({ operation: "test", reason, cause: "inside" })
    const { answer, log } = yield* brokenReads(Effect.fail(broken("unavailable")))
    errorOf(answer, "unavailable")
    assert.strictEqual(answer.headers["retry-after"], "1")
    assert.strictEqual(answer.headers["retry-after-ms"], "1000")
    assert.strictEqual(limitOf(answer).limit, 300)
    assert.include(log, "trace 7")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns 500 if storage rejects a statement", () =>
  Effect.gen(function*() {
    const failed = new StorageError({ operation: "test", reason: "failed", cause: "inside" })
    const { answer, log } = yield* brokenReads(Effect.fail(failed))
    errorOf(answer, "internal_error")
    assert.include(log, "Storage failed during test")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns 503 and closes the connection when the host stops", () =>
  Effect.gen(function*() {
    const reading = yield* Deferred.make<void>()
    const generations = yield* Generations.Generations
    const read = Effect.andThen(Deferred.succeed(reading, undefined), Effect.interrupt)
    const send = yield* Host.start().pipe(
      Effect.provideService(Generations.Generations, { ...generations, get: () => read })
    )
    const { key } = yield* Host.openAccount()
    const answer = yield* send("GET", "/v1/generations/gen_1", { key })
    yield* Deferred.await(reading)
    errorOf(answer, "unavailable")
    assert.strictEqual(answer.headers["connection"], "close")
    assert.strictEqual(answer.headers["retry-after"], "1")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
