import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import type { ErrorCode } from "@kinora/http-api/ErrorCode"
import { Effect } from "effect"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const params = { prompt: "a lake" }
const good = { plan: "credits", model: "kinora-still", params }

interface BadRequest {
  readonly what: string
  readonly body: unknown
  readonly code: ErrorCode
  readonly headers?: Readonly<Record<string, string>>
  /** Paths of `details.issues`. */
  readonly issues?: ReadonlyArray<string>
  readonly details?: Readonly<Record<string, unknown>>
  readonly plan?: "studio" | "credits"
}

const badRequests: ReadonlyArray<BadRequest> = [
  { what: "invalid JSON", body: "{\"plan\": ", code: "invalid_request", issues: [""] },
  { what: "an empty body", body: "", code: "invalid_request", issues: [""] },
  { what: "a JSON array", body: [], code: "invalid_request", issues: [""] },
  {
    what: "wrong types",
    body: { plan: 1, model: null, params: { prompt: 2, duration: 1.5, images: {} } },
    code: "invalid_request",
    issues: ["plan", "model", "params.prompt", "params.duration", "params.images"]
  },
  { what: "missing properties", body: {}, code: "invalid_request", issues: ["plan", "model", "params"] },
  { what: "an unknown plan", body: { ...good, plan: "free" }, code: "invalid_request", issues: ["plan"] },
  { what: "an unknown property", body: { ...good, seed: 1 }, code: "invalid_request", issues: ["seed"] },
  {
    what: "unknown nested properties",
    body: { ...good, params: { ...params, seed: 1, images: [{ data: "", url: "" }] } },
    code: "invalid_request",
    issues: ["params.images[0].url", "params.seed"]
  },
  {
    what: "an integer beyond 2^53",
    body: { ...good, params: { ...params, duration: 2 ** 53 } },
    code: "invalid_request",
    issues: ["params.duration"]
  },
  {
    what: "another content type",
    body: JSON.stringify(good),
    headers: { "content-type": "text/plain" },
    code: "unsupported_media_type"
  },
  {
    what: "an invalid idempotency key",
    body: good,
    headers: { "idempotency-key": "é" },
    code: "invalid_idempotency_key"
  },
  {
    what: "an unknown model",
    body: { ...good, model: "no-such-model" },
    code: "model_not_found",
    details: { model: "no-such-model" }
  },
  {
    what: "a paused model",
    body: { ...good, model: "paused-1" },
    code: "model_unavailable",
    details: { model: "paused-1" }
  },
  {
    what: "a model that is not in Studio",
    body: { ...good, plan: "studio" },
    code: "model_not_in_plan",
    plan: "studio",
    details: { model: "kinora-still" }
  },
  {
    what: "an unsupported value",
    body: { ...good, params: { ...params, aspect_ratio: "7:1", resolution: "8k" } },
    code: "invalid_params",
    issues: ["params.aspect_ratio", "params.resolution"]
  },
  {
    what: "a prompt that is too long",
    body: { ...good, params: { prompt: "a".repeat(4001) } },
    code: "invalid_params",
    issues: ["params.prompt"]
  }
]

const paths = (details: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  (details["issues"] as ReadonlyArray<{ readonly path: string; readonly message: string }>)
    .map(({ message, path }) => {
      assert.isNotEmpty(message)
      return path
    })
    .toSorted()

for (const { body, code, details, headers, issues, plan, what } of badRequests) {
  it.effect(`rejects ${what} with ${code}, and charges nothing`, () =>
    Effect.gen(function*() {
      const send = yield* Host.start()
      const { account, key } = yield* Host.openAccount()
      const before = yield* Host.balances(account)
      const answer = yield* send("POST", "/v1/generations", { key, body, headers })
      const error = errorOf(answer, code)
      assert.strictEqual(error.plan, plan ?? null)
      if (issues !== undefined) assert.deepStrictEqual(paths(error.details), issues.toSorted())
      else assert.deepStrictEqual(error.details, details ?? {})
      assert.isAbove(limitOf(answer).limit, 0)
      assert.deepStrictEqual(yield* Host.balances(account), before)
    }).pipe(Effect.scoped, Effect.provide(Host.layer)))
}

it.effect("rejects a body that is too large before and while reading it", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ creatingBodyBytesMax: 1000, bodyBytesMax: 10 })
    const { account, key } = yield* Host.openAccount()
    const body = JSON.stringify({ ...good, params: { prompt: "a".repeat(1000) } })
    errorOf(yield* send("POST", "/v1/generations", { key, body }), "payload_too_large")
    const length = { "content-length": String(body.length) }
    const announced = yield* send("POST", "/v1/generations", { key, body, headers: length })
    assert.include(errorOf(announced, "payload_too_large").message, "1000")
    const elsewhere = yield* send("POST", "/v1/generations/x/cancel", { key, body: "", headers: length })
    assert.include(errorOf(elsewhere, "payload_too_large").message, "10")
    assert.strictEqual((yield* send("POST", "/v1/generations", { key, body: good })).status, 201)
    assert.deepStrictEqual(yield* Host.balances(account), { credits: 92, quotaUsed: {} })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects jobs that the chosen plan cannot pay with 402, and names the plan", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const poor = yield* Host.openAccount({ credits: 7, plans: false })
    const credits = yield* send("POST", "/v1/generations", { key: poor.key, body: good })
    const short = errorOf(credits, "insufficient_credits")
    assert.strictEqual(short.plan, "credits")
    assert.deepStrictEqual(short.details, { required: 8, available: 7 })
    const studio = yield* send("POST", "/v1/generations", {
      key: poor.key,
      body: { ...good, plan: "studio", model: "kinora-draft" }
    })
    assert.strictEqual(errorOf(studio, "plan_inactive").plan, "studio")
    assert.deepStrictEqual(yield* Host.balances(poor.account), { credits: 7, quotaUsed: {} })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects jobs beyond the queue with 429 and a Retry-After of 5 seconds", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount({ credits: 1000 })
    const create = (prompt: string) => send("POST", "/v1/generations", { key, body: { ...good, params: { prompt } } })
    for (let n = 0; n < 24; n++) assert.strictEqual((yield* create(`lake ${n}`)).status, 201)
    const before = yield* Host.balances(account)
    const answer = yield* create("one too many")
    assert.strictEqual(errorOf(answer, "queue_full").plan, "credits")
    assert.strictEqual(answer.headers["retry-after"], "5")
    assert.strictEqual(answer.headers["retry-after-ms"], "5000")
    assert.deepStrictEqual(yield* Host.balances(account), before)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

const unknownIds = ["gen_00000000000000000000000000", "gen_short", "job_00000000000000000000000000", "x".repeat(200)]

it.effect("returns the same 404 for unknown and malformed ids and those of other accounts", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const owner = yield* Host.openAccount()
    const other = yield* Host.openAccount({ email: "other@example.com" })
    const foreign = yield* Host.addCompleted(owner.account, new Uint8Array(4))
    for (const id of [...unknownIds, foreign.id]) {
      errorOf(yield* send("GET", `/v1/generations/${id}`, { key: other.key }), "not_found")
      errorOf(yield* send("GET", `/v1/generations/${id}?wait=5`, { key: other.key }), "not_found")
      errorOf(yield* send("POST", `/v1/generations/${id}/cancel`, { key: other.key }), "not_found")
      errorOf(yield* send("GET", `/v1/generations/${id}/content`, { key: other.key }), "not_found")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns 404 for unknown paths, and 405 with Allow for wrong methods", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    for (const path of ["/", "/v1", "/v2/models", "/v1/generations/a/b/c", "/favicon.ico"]) {
      const answer = yield* send("GET", path)
      errorOf(answer, "not_found")
      assert.strictEqual(limitOf(answer).limit, 60)
    }
    const cases = [
      ["DELETE", "/v1/generations", "POST, GET, HEAD"],
      ["POST", "/v1/generations/gen_1/events", "GET, HEAD"],
      ["GET", "/v1/images/generations", "POST"],
      ["GET", "/v1/uploads", "POST"],
      ["GET", "/v1/uploads/upl_1", "DELETE"],
      ["DELETE", "/v1/models/a", "GET, HEAD"],
      ["POST", "/v1/account", "GET, HEAD"],
      ["POST", "/v1/usage", "GET, HEAD"],
      ["GET", "/v1/generations/gen_1/cancel", "POST"],
      ["POST", "/v1/generations/gen_1/content?exp=1", "GET, HEAD"],
      ["PUT", "/v1/models", "GET, HEAD"],
      ["POST", "/healthz", "GET, HEAD"],
      ["POST", "/openapi.json", "GET, HEAD"]
    ] as const
    for (const [method, path, allow] of cases) {
      const answer = yield* send(method, path)
      errorOf(answer, "method_not_allowed")
      assert.strictEqual(answer.headers["allow"], allow)
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("counts unknown paths and wrong methods below /v1/ for their key, and no credentials of other paths", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount()
    const paths = ["/v1/nothing", "/V1/models", "/v1/models/", "/v1//models", "/v1/models;a"]
    for (const [index, path] of paths.entries()) {
      const answer = yield* send("GET", path, { key })
      errorOf(answer, "not_found")
      assert.deepInclude(limitOf(answer), { limit: 300, remaining: 299 - index })
    }
    const wrong = yield* send("PUT", "/v1/models", { key: "kin_wrong" })
    errorOf(wrong, "method_not_allowed")
    assert.deepInclude(limitOf(wrong), { limit: 60, remaining: 59 })
    for (const path of ["/nothing", "/admin/v1/nothing", "/ADMIN/v1/accounts"]) {
      const answer = yield* send("GET", path, { key: "kin_wrong" })
      errorOf(answer, "not_found")
      assert.deepInclude(limitOf(answer), { limit: 60, remaining: 59 })
    }
    const accounts = yield* Accounts.Accounts
    yield* accounts.suspend(account.id)
    errorOf(yield* send("GET", "/v1/nothing", { key }), "account_suspended")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects a suspended account with 403 until it is resumed", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount()
    const accounts = yield* Accounts.Accounts
    yield* accounts.suspend(account.id)
    const answer = yield* send("POST", "/v1/generations", { key, body: good })
    errorOf(answer, "account_suspended")
    assert.strictEqual(limitOf(answer).limit, 300)
    yield* accounts.resume(account.id)
    assert.strictEqual((yield* send("POST", "/v1/generations", { key, body: good })).status, 201)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
