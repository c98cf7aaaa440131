import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as ApiError from "../src/ApiError.ts"
import { codesOf, table } from "../src/ErrorCode.ts"

/** D40, as it is written there. */
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
  401: ["unauthorized", "invalid_signature"],
  402: ["plan_inactive", "quota_exceeded", "insufficient_credits"],
  403: ["signature_expired", "account_suspended"],
  404: ["not_found", "model_not_found", "upload_not_found", "result_not_found"],
  405: ["method_not_allowed"],
  409: ["not_cancellable", "result_not_ready", "idempotency_in_progress"],
  410: ["result_expired"],
  413: ["payload_too_large"],
  415: ["unsupported_media_type"],
  416: ["range_not_satisfiable"],
  422: ["idempotency_key_reused", "generation_failed", "content_rejected"],
  429: ["rate_limited", "queue_full", "download_limited"],
  500: ["internal_error"],
  503: ["model_unavailable", "unavailable"],
  504: ["generation_pending"]
}

it.effect("has every code of D40 under its status, and no other", () =>
  Effect.sync(() => {
    const found: Record<number, Array<string>> = {}
    for (const [code, { status }] of Object.entries(table)) (found[status] ??= []).push(code)
    assert.deepStrictEqual(found, statuses)
    assert.deepStrictEqual(codesOf(410), ["result_expired"])
  }))

it.effect("says something in every message, and ends it as a sentence", () =>
  Effect.sync(() => {
    for (const { message } of Object.values(table)) assert.match(message, /^[A-Z`p].{15,}\.$/)
  }))

it.effect("puts exactly the four fields of the envelope on the wire (D42)", () =>
  Effect.gen(function*() {
    const error = new ApiError.PaymentRequired({
      error: ApiError.bodyOf("insufficient_credits", { plan: "credits", details: { required: 3, available: 1 } })
    })
    assert.deepStrictEqual(yield* Schema.encodeEffect(ApiError.PaymentRequiredResponse)(error), {
      body: {
        error: {
          code: "insufficient_credits",
          message: table.insufficient_credits.message,
          plan: "credits",
          details: { required: 3, available: 1 }
        }
      },
      headers: {}
    })
  }))

it.effect("rounds Retry-After up to whole seconds, at least 1, and keeps the exact wait (D27)", () =>
  Effect.gen(function*() {
    for (const [afterMillis, seconds] of [[0, 1], [1, 1], [1000, 1], [1001, 2], [59_999, 60]] as const) {
      const error = new ApiError.TooManyRequests({
        error: ApiError.bodyOf("rate_limited"),
        retry: { afterMillis },
        shouldRetry: true
      })
      const { headers } = yield* Schema.encodeEffect(ApiError.TooManyRequestsResponse)(error)
      assert.deepStrictEqual(headers, { "retry-after": seconds, "retry-after-ms": afterMillis })
    }
  }))

it.effect("tells clients not to repeat what a retry cannot help (D27)", () =>
  Effect.gen(function*() {
    const encode = Schema.encodeEffect(ApiError.ConflictResponse)
    const hopeless = yield* encode(new ApiError.Conflict({ error: ApiError.bodyOf("not_cancellable") }))
    assert.deepStrictEqual(hopeless.headers, { "x-should-retry": "false" })
    const pending = yield* encode(
      new ApiError.Conflict({ error: ApiError.bodyOf("idempotency_in_progress"), retry: { afterMillis: 500 } })
    )
    assert.deepStrictEqual(pending.headers, { "retry-after": 1, "retry-after-ms": 500 })
    const daily = yield* Schema.encodeEffect(ApiError.TooManyRequestsResponse)(
      new ApiError.TooManyRequests({
        error: ApiError.bodyOf("download_limited"),
        retry: { afterMillis: 3_600_000 },
        shouldRetry: false
      })
    )
    assert.strictEqual(daily.headers["x-should-retry"], "false")
  }))
