import { assert, it } from "@effect/vitest"
import { DateTime, Effect, ErrorReporter, Exit } from "effect"
import * as ApiError from "../src/ApiError.ts"
import { definitions, type ErrorDefinition, table } from "../src/ErrorCode.ts"

/** The statuses and their codes. A code is never given another status. */
const statuses: Readonly<Record<number, ReadonlyArray<string>>> = {
  400: [
    "invalid_request",
    "invalid_params",
    "invalid_image",
    "invalid_idempotency_key",
    "invalid_range",
    "plan_required",
    "plan_conflict",
    "model_not_in_plan",
    "model_kind_mismatch"
  ],
  401: ["unauthorized", "invalid_signature", "key_expired"],
  402: ["plan_inactive", "quota_exceeded", "insufficient_credits"],
  403: ["signature_expired", "account_suspended", "scope_missing", "model_not_allowed", "address_not_allowed"],
  404: ["not_found", "model_not_found", "upload_not_found", "result_not_found"],
  405: ["method_not_allowed"],
  408: ["request_timeout"],
  409: ["not_cancellable", "result_not_ready", "idempotency_in_progress"],
  410: ["result_expired"],
  412: ["precondition_failed"],
  413: ["payload_too_large"],
  415: ["unsupported_media_type"],
  416: ["range_not_satisfiable"],
  422: ["idempotency_key_reused", "generation_failed", "content_rejected"],
  429: ["rate_limited", "key_budget_exceeded", "queue_full", "download_limited"],
  500: ["internal_error"],
  503: ["model_unavailable", "unavailable"],
  504: ["generation_pending"]
}

it.effect("has every code under its status", () =>
  Effect.sync(() => {
    const found: Record<number, Array<string>> = {}
    for (const [code, { status }] of Object.entries(table)) (found[status] ??= []).push(code)
    assert.deepStrictEqual(found, statuses)
  }))

it.effect("states the problem as a sentence in every message", () =>
  Effect.sync(() => {
    for (const { message } of Object.values(definitions)) assert.match(message, /^[A-Zp].{15,}\.$/)
  }))

it.effect("gives every response that waits a wait, and no other", () =>
  Effect.sync(() => {
    for (const [code, { retry, status, waitMillis }] of Object.entries<ErrorDefinition>(definitions)) {
      if (status === 429 || status === 503 || status === 504) assert.strictEqual(retry, "after", code)
      if (waitMillis !== undefined) assert.strictEqual(retry, "after", code)
    }
  }))

it.effect("encodes exactly the four properties of the envelope", () =>
  Effect.sync(() => {
    const resetsAt = DateTime.makeUnsafe("2026-11-22T00:00:00Z")
    const error = ApiError.make("quota_exceeded", {
      plan: "studio",
      details: { quota_kind: "video", resets_at: resetsAt }
    })
    assert.deepStrictEqual(ApiError.encode(error), {
      status: 402,
      headers: {},
      body: {
        error: {
          code: "quota_exceeded",
          message: table.quota_exceeded.message,
          plan: "studio",
          details: { quota_kind: "video", resets_at: "2026-11-22T00:00:00.000Z" }
        }
      }
    })
    assert.deepStrictEqual(ApiError.encode(ApiError.make("not_found")).body.error, {
      code: "not_found",
      message: table.not_found.message,
      plan: null,
      details: {}
    })
  }))

it.effect("rounds Retry-After up to whole seconds, at least 1, and gives the exact wait in retry-after-ms", () =>
  Effect.sync(() => {
    for (const [retryAfterMillis, seconds] of [[0, 1], [1, 1], [1000, 1], [1001, 2], [59_999, 60]] as const) {
      const error = ApiError.make("rate_limited", { details: { scope: "key" }, retryAfterMillis })
      assert.deepStrictEqual(ApiError.encode(error).headers, {
        "retry-after": String(seconds),
        "retry-after-ms": String(retryAfterMillis)
      })
    }
  }))

it.effect("sets `x-should-retry: false` where a retry cannot help", () =>
  Effect.sync(() => {
    const headers = (error: ApiError.ApiErrorOf<keyof typeof definitions>) => ApiError.encode(error).headers
    const late = ApiError.make("not_cancellable", { plan: "credits", details: { status: "completed" } })
    assert.deepStrictEqual(headers(late), { "x-should-retry": "false" })
    assert.deepStrictEqual(headers(ApiError.make("email_taken")), { "x-should-retry": "false" })
    const early = ApiError.make("result_not_ready", { details: { status: "queued" } })
    assert.deepStrictEqual(headers(early), {})
    const pending = ApiError.make("idempotency_in_progress", { retryAfterMillis: 500 })
    assert.deepStrictEqual(headers(pending), { "retry-after": "1", "retry-after-ms": "500" })
    const daily = ApiError.make("download_limited", {
      details: { scope: "bytes" },
      retryAfterMillis: 3_600_000,
      shouldRetry: false
    })
    assert.propertyVal(headers(daily), "x-should-retry", "false")
    const outside = ApiError.make("range_not_satisfiable", { details: { bytes: 3 } })
    assert.deepStrictEqual(headers(outside), { "content-range": "bytes */3" })
    assert.deepStrictEqual(headers(ApiError.make("unauthorized")), { "www-authenticate": "Bearer" })
  }))

it.effect("puts the first issue into the message, because many SDKs show only the message", () =>
  Effect.sync(() => {
    const n = { path: "n", message: "must be 1; send one request per image" }
    const whole = { path: "", message: "must be an object" }
    const message = (code: "invalid_params" | "invalid_request", ...issues: Array<typeof n>) =>
      ApiError.make(code, { details: { issues } }).message
    assert.strictEqual(message("invalid_params", n), "n must be 1; send one request per image.")
    assert.strictEqual(
      message("invalid_params", n, whole, whole),
      "n must be 1; send one request per image. 2 more in details.issues."
    )
    assert.strictEqual(message("invalid_request", whole), "The request body must be an object.")
    assert.strictEqual(message("invalid_params", whole), "The request must be an object.")
    assert.strictEqual(message("invalid_request"), table.invalid_request.message)
    const given = ApiError.make("invalid_request", { message: "Given.", details: { issues: [whole] } })
    assert.strictEqual(given.message, "Given.")
  }))

it.effect("is caught by its code", () =>
  Effect.gen(function*() {
    const caught = yield* ApiError.refuse("queue_full", { plan: "studio", details: { waiting_max: 20 } }).pipe(
      Effect.catchTag("queue_full", ({ details, retryAfterMillis }) => Effect.succeed([details, retryAfterMillis]))
    )
    assert.deepStrictEqual(caught, [{ waiting_max: 20 }, 5000])
    const exit = yield* Effect.exit(ApiError.refuse("internal_error"))
    assert.isTrue(Exit.isFailure(exit))
    assert.isFalse(ApiError.make("internal_error")[ErrorReporter.ignore])
    assert.isTrue(ApiError.make("unavailable")[ErrorReporter.ignore])
  }))
