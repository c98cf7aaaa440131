import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import type { Generation } from "@kinora/generations"
import { Generation as WireGeneration, Image } from "@kinora/http-api"
import { Duration, Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const path = "/v1/images/generations"
const body = { model: "kinora-still", prompt: "a lake", plan: "credits" }

const strictly = Schema.decodeUnknownSync(Image.ImageResponse, { onExcessProperty: "error" })

/** Serves an account whose jobs a test completes while their requests wait. */
const open = Effect.fnUntraced(function*(options: Parameters<typeof Host.start>[0] = {}) {
  const send = yield* Host.start(options)
  const { account, key, keyId } = yield* Host.openAccount()
  const ask = (changed: object = {}, headers: Readonly<Record<string, string>> = {}) =>
    send("POST", path, { key, body: { ...body, ...changed }, headers })
  const asking = Effect.fnUntraced(function*(request: ReturnType<typeof ask>, count = 1) {
    const fiber = yield* Effect.forkChild(request)
    yield* Host.held("images", keyId, count)
    return { fiber, job: yield* Host.newest(account) }
  })
  /** The response to a request whose job completes with these bytes. */
  const askFor = Effect.fnUntraced(
    function*(bytes: Uint8Array, changed?: object, headers?: Readonly<Record<string, string>>) {
      const { fiber, job } = yield* asking(ask(changed, headers))
      yield* Host.complete(job.id, bytes)
      return { answer: yield* Fiber.join(fiber), job }
    }
  )
  const newest = Host.newest(account)
  return { account, ask, askFor, asking, key, keyId, newest, send }
})

const pendingOf = (answer: Host.Answer, { id }: Generation.Generation) => {
  assert.deepStrictEqual(errorOf(answer, "generation_pending").details, { generation_id: id })
  assert.strictEqual(answer.headers["retry-after"], "1")
  assert.strictEqual(answer.headers["retry-after-ms"], "1000")
}

it.effect("waits for the image and returns its URL, with exactly the documented properties", () =>
  Effect.gen(function*() {
    const { account, askFor, key, send } = yield* open()
    const { answer, job } = yield* askFor(Host.pixel)
    assert.strictEqual(answer.status, 200, answer.text)
    assert.strictEqual(answer.headers["content-type"], "application/json")
    const { created, data } = strictly(answer.json)
    assert.strictEqual(created, Host.startedAt.epochMilliseconds / 1000)
    assert.deepStrictEqual(limitOf(answer), { limit: 60, remaining: 59, reset: created + 30 })
    const shown = Schema.decodeUnknownSync(WireGeneration.Generation)(
      (yield* send("GET", `/v1/generations/${job.id}`, { key })).json
    )
    assert.deepStrictEqual(data, [{ url: shown.output!.url }])
    assert.isTrue(shown.output!.url.startsWith("https://api.example.com/v1/generations/"))
    const file = yield* send("GET", shown.output!.url.slice("https://api.example.com".length))
    assert.deepStrictEqual([file.status, file.headers["content-type"]], [200, "image/png"])
    assert.deepStrictEqual(yield* Host.balances(account), { credits: 92, quotaUsed: {} })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("sends the image in base64 with its exact length, without counting bytes of the account", () =>
  Effect.gen(function*() {
    const { account, askFor, key, send } = yield* open()
    for (const length of [0, 1, 2, 199_998]) {
      const bytes = Uint8Array.from({ length }, (_, n) => n * 7 + length)
      const prompt = `a lake of ${length} bytes`
      const { answer } = yield* askFor(bytes, { response_format: "b64_json", prompt })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.headers["content-type"], "application/json")
      assert.strictEqual(answer.headers["content-length"], String(answer.text.length))
      const { data } = strictly(answer.json)
      const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")
      assert.deepStrictEqual(data, [{ b64_json: btoa(letters) }])
    }
    const seen = (yield* send("GET", "/v1/account", { key })).text
    assert.include(seen, "\"used_bytes_today\":0")
    assert.deepStrictEqual(yield* Host.balances(account), { credits: 68, quotaUsed: {} })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("uses the response format of the model if the request has none", () =>
  Effect.gen(function*() {
    const { askFor } = yield* open()
    const { answer } = yield* askFor(Host.pixel, { model: "remix-1", response_format: null })
    assert.property(strictly(answer.json).data?.[0], "b64_json")
    const { answer: other } = yield* askFor(Host.pixel, { model: "remix-1", response_format: "url" })
    assert.property(strictly(other.json).data?.[0], "url")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("treats null as absent, and ignores unknown properties", () =>
  Effect.gen(function*() {
    const { askFor } = yield* open()
    const nulls = { n: null, plan: null, quality: null, response_format: null, size: null, user: null, stream: null }
    const { answer, job } = yield* askFor(Host.pixel, { ...nulls, style: "vivid", background: { any: ["thing"] } })
    assert.strictEqual(answer.status, 200, answer.text)
    assert.deepStrictEqual([job.plan, job.params], ["credits", { aspect_ratio: "1:1", resolution: "1k" }])
    const { answer: again } = yield* askFor(Host.pixel, {
      n: 1,
      quality: "low",
      size: "auto",
      stream: false,
      user: "someone"
    })
    assert.strictEqual(again.status, 200, again.text)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("maps sizes to the closest aspect ratio, and hd to 2k if the model supports it", () =>
  Effect.gen(function*() {
    const { ask, newest } = yield* open({ imageWaitsMax: 0 })
    const cases = [
      ["1024x1024", "standard", "1:1", "1k"],
      ["1536x1024", "hd", "3:2", "2k"],
      ["1792x1024", "hd", "16:9", "2k"],
      ["1024x1536", "high", "2:3", "1k"],
      ["1024x1792", "low", "9:16", "1k"],
      ["640x480", "auto", "4:3", "1k"]
    ] as const
    for (const [size, quality, aspect_ratio, resolution] of cases) {
      errorOf(yield* ask({ size, quality, prompt: size }), "generation_pending")
      assert.deepStrictEqual((yield* newest).params, { aspect_ratio, resolution }, size)
    }
    errorOf(yield* ask({ model: "kinora-draft", plan: "studio", quality: "hd" }), "generation_pending")
    assert.strictEqual((yield* newest).params["resolution"], "512px")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("reads the plan from the body or from X-Plan, and uses credits for models outside of Studio", () =>
  Effect.gen(function*() {
    const { account, ask, askFor } = yield* open()
    const draft = { model: "kinora-draft", plan: undefined }
    errorOf(yield* ask(draft), "plan_required")
    errorOf(yield* ask({ plan: "credits" }, { "x-plan": "studio" }), "plan_conflict")
    assert.deepStrictEqual(yield* Host.balances(account), { credits: 100, quotaUsed: {} })

    assert.strictEqual((yield* askFor(Host.pixel, { plan: undefined })).job.plan, "credits")
    const { answer, job } = yield* askFor(Host.pixel, draft, { "x-plan": "studio" })
    assert.strictEqual(job.plan, "studio")
    assert.strictEqual(limitOf(answer).limit, 40)
    assert.strictEqual((yield* askFor(Host.pixel, { ...draft, prompt: "a sea", plan: "credits" })).job.plan, "credits")
    const both = { ...draft, prompt: "a hill", plan: "studio" }
    assert.strictEqual((yield* askFor(Host.pixel, both, { "x-plan": "studio" })).job.plan, "studio")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("lists every problem of a request, and charges nothing", () =>
  Effect.gen(function*() {
    const { account, ask } = yield* open()
    const wrong = { n: 2, plan: "gold", size: "large", response_format: "png", stream: true }
    const { details } = errorOf(yield* ask(wrong, { "x-plan": "silver" }), "invalid_params")
    const issues = details["issues"] as ReadonlyArray<{ readonly path: string; readonly message: string }>
    assert.deepStrictEqual(issues.map(({ path }) => path), ["n", "plan", "X-Plan", "response_format", "size", "stream"])
    for (const size of ["1024x", "0x1024", "1024 x 1024", "AUTO", "1024x1024x3"]) {
      errorOf(yield* ask({ size }), "invalid_params")
    }
    const long = errorOf(yield* ask({ prompt: "a".repeat(4001) }), "invalid_params")
    assert.deepStrictEqual(long.details["issues"], [{ path: "prompt", message: "must have at most 4000 characters" }])
    errorOf(yield* ask({ prompt: undefined }), "invalid_request")
    errorOf(yield* ask({ n: "1" }), "invalid_request")
    errorOf(yield* ask({ model: "film-1" }), "model_kind_mismatch")
    errorOf(yield* ask({ model: "gpt-image-1" }), "model_not_found")
    errorOf(yield* ask({ model: "paused-1" }), "model_unavailable")
    errorOf(yield* ask({ plan: "studio" }), "model_not_in_plan")
    assert.deepStrictEqual(yield* Host.balances(account), { credits: 100, quotaUsed: {} })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("responds with 504 after the longest wait, and waits for the same job when the request is repeated", () =>
  Effect.gen(function*() {
    const { account, ask, asking } = yield* open()
    const first = yield* asking(ask())
    yield* TestClock.adjust("50 seconds")
    pendingOf(yield* Fiber.join(first.fiber), first.job)
    // Each 504 restarts the 120 seconds, so the request can be repeated any number of times.
    for (let n = 0; n < 3; n++) {
      yield* TestClock.adjust("70 seconds")
      const retry = yield* asking(ask())
      assert.strictEqual(retry.job.id, first.job.id)
      yield* TestClock.adjust("50 seconds")
      pendingOf(yield* Fiber.join(retry.fiber), first.job)
    }
    const last = yield* asking(ask())
    yield* Host.complete(first.job.id, Host.pixel)
    assert.strictEqual((yield* Fiber.join(last.fiber)).status, 200)
    assert.deepStrictEqual(yield* Host.balances(account), { credits: 92, quotaUsed: {} })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("waits for the configured time", () =>
  Effect.gen(function*() {
    const { ask, asking } = yield* open({ imageWait: Duration.seconds(5) })
    const { fiber, job } = yield* asking(ask())
    yield* TestClock.adjust("4999 millis")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    pendingOf(yield* Fiber.join(fiber), job)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("responds with 504 immediately if the key has no place left, and frees the place of a client that disconnects", () =>
  Effect.gen(function*() {
    const { ask, asking, keyId, newest } = yield* open({ imageWaitsMax: 1 })
    const { fiber, job } = yield* asking(ask())
    pendingOf(yield* ask(), job)
    const other = yield* ask({ prompt: "a sea" })
    pendingOf(other, yield* newest)
    yield* Fiber.interrupt(fiber)
    yield* Host.held("images", keyId, 0)
    // A client that disconnects does not cancel its job.
    assert.strictEqual((yield* newest).status, "queued")
    const { fiber: again } = yield* asking(ask())
    yield* Host.complete(job.id, Host.pixel)
    assert.strictEqual((yield* Fiber.join(again)).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("responds with 504 immediately if the account has no place left for its keys", () =>
  Effect.gen(function*() {
    const { account, ask, asking, newest, send } = yield* open({ accountImageWaitsMax: 1 })
    const { fiber, job } = yield* asking(ask())
    const { key } = yield* Accounts.Accounts.use(({ createKey }) => createKey(account.id, "test"))
    pendingOf(yield* send("POST", path, { key, body: { ...body, prompt: "a sea" } }), yield* newest)
    yield* Host.complete(job.id, Host.pixel)
    assert.strictEqual((yield* Fiber.join(fiber)).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("responds with 422 for a job that failed, was rejected or was cancelled, also when its key is repeated", () =>
  Effect.gen(function*() {
    const { account, ask, asking, key, send } = yield* open()
    const headers = { "idempotency-key": "order 1" }
    const rejected = yield* asking(ask({}, headers))
    yield* Host.fail(rejected.job.id)
    const first = errorOf(yield* Fiber.join(rejected.fiber), "content_rejected")
    assert.deepStrictEqual(first.details, { generation_id: rejected.job.id, reason: "safety" })
    assert.deepStrictEqual(errorOf(yield* ask({}, headers), "content_rejected"), first)

    const broken = yield* asking(ask({ prompt: "a sea" }))
    yield* Host.fail(broken.job.id, "upstream_error")
    const second = errorOf(yield* Fiber.join(broken.fiber), "generation_failed")
    assert.deepStrictEqual(second.details, { generation_id: broken.job.id, reason: "provider" })

    const cancelled = yield* asking(ask({ prompt: "a hill" }))
    yield* send("POST", `/v1/generations/${cancelled.job.id}/cancel`, { key })
    yield* TestClock.adjust("1 second")
    const third = errorOf(yield* Fiber.join(cancelled.fiber), "generation_failed")
    assert.deepStrictEqual(third.details, { generation_id: cancelled.job.id, reason: "cancelled" })
    assert.strictEqual((yield* Host.newest(account)).status, "cancelled")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("shares idempotency keys with POST /v1/generations, where a body is a different one", () =>
  Effect.gen(function*() {
    const { account, ask, askFor, key, send } = yield* open()
    const headers = { "idempotency-key": "order 1" }
    const { answer, job } = yield* askFor(Host.pixel, {}, headers)
    yield* TestClock.adjust("1 hour")
    assert.strictEqual((yield* ask({}, headers)).text, answer.text)
    errorOf(yield* ask({ prompt: "a sea" }, headers), "idempotency_key_reused")
    errorOf(yield* ask({ response_format: "b64_json" }, headers), "idempotency_key_reused")
    const other = { plan: "credits", model: body.model, params: { prompt: body.prompt } }
    errorOf(yield* send("POST", "/v1/generations", { key, body: other, headers }), "idempotency_key_reused")
    // The plan group counts, whether the body or the header names it.
    assert.strictEqual((yield* ask({ plan: undefined }, { ...headers, "x-plan": "credits" })).text, answer.text)
    errorOf(yield* ask({ plan: "studio" }, headers), "idempotency_key_reused")
    assert.strictEqual((yield* Host.newest(account)).id, job.id)
    errorOf(yield* ask({}, { "idempotency-key": "é" }), "invalid_idempotency_key")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("matches requests without a key at this endpoint only", () =>
  Effect.gen(function*() {
    const { account, ask, askFor, key, send } = yield* open()
    const { answer, job } = yield* askFor(Host.pixel)
    assert.strictEqual((yield* ask()).text, answer.text)
    const other = { plan: "credits", model: body.model, params: { prompt: body.prompt } }
    assert.strictEqual((yield* send("POST", "/v1/generations", { key, body: other })).status, 201)
    assert.notStrictEqual((yield* Host.newest(account)).id, job.id)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("counts creations against the limit of the plan group, but not replays", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ imageWaitsMax: 0 })
    const { key } = yield* Host.openAccount({ plans: false, credits: 1000 })
    const ask = (n: number) => send("POST", path, { key, body: { ...body, prompt: `lake ${n}` } })
    for (let n = 0; n < 10; n++) assert.strictEqual(limitOf(yield* ask(n)).remaining, 9 - n)
    const refused = errorOf(yield* ask(10), "rate_limited")
    assert.deepStrictEqual([refused.plan, refused.details], ["credits", { scope: "plan" }])
    errorOf(yield* ask(3), "generation_pending")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns 410 for a replay whose image has expired", () =>
  Effect.gen(function*() {
    const { ask, asking } = yield* open()
    const headers = { "idempotency-key": "order 1" }
    const { fiber, job } = yield* asking(ask({}, headers))
    yield* Host.complete(job.id, Host.pixel, 1)
    assert.strictEqual((yield* Fiber.join(fiber)).status, 200)
    yield* TestClock.adjust("1 hour")
    const { details } = errorOf(yield* ask({}, headers), "result_expired")
    assert.deepStrictEqual(details, { expired_at: "2026-11-21T13:00:30.000Z" })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
