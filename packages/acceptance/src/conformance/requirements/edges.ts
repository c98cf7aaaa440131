/** Decisions on limits, content, reads, errors and operating (D26 to D42, D49), as far as they are visible from outside. */
import type { ErrorCode } from "@kinora/http-api/ErrorCode"

/** Limits and headers (D26 to D30). */
export const headers = {
  "D26.authenticated":
    "Every authenticated response, errors included, carries the three `X-RateLimit-*` headers (plan group on job creation once the plan is known, else the key).",
  "D26.anonymous": "Responses without a key carry the failed-authentication limit of the address (limit 60).",
  "D26.none": "Health, metrics and docs carry none.",
  "D26a.origin": "`{base_url}` is `KINORA_BASE_URL`; without it, the origin that the request came to.",
  "D26a.links": "`Location`, `output.url` and the image `url` are on it.",
  "D27.codes":
    "Codes of 429: `rate_limited` with `details.scope` `key`, `plan` or `auth`; `queue_full`; `download_limited` with `details.scope` `streams`, `bytes` or `downloads`.",
  "D27.seconds": "`Retry-After` is whole seconds, at least 1",
  "D27.five": "for `queue_full` and `streams` it is 5",
  "D27.daily": "for daily limits the time to 00:00 UTC.",
  "D27.millis": "Every 429, 503 and 504 also carries `retry-after-ms` (the exact wait)",
  "D27.shouldRetry":
    "a 4xx that a retry cannot help (409 `not_cancellable`, a daily 429) carries `x-should-retry: false`.",
  "D28.others": "A request with a valid key is never refused for other people's failed attempts from the same address.",
  "D28.forwarded":
    "The address is the right-most untrusted entry of `X-Forwarded-For` when the socket's is a configured trusted proxy",
  "D28.ipv6": "IPv6 counts per /64.",
  "D29.ttl": "`results.api_ttl_hours` 24",
  "D29.bytes": "`user_gib_per_day` 50",
  "D29.multiple": "`job_download_multiple` 10",
  "D29.streams": "parallel streams per account 8.",
  "D30.given": "every response carries `X-Request-Id` (the caller's, if 1 to 128 printable ASCII characters)",
  "D30.new": "else a new one"
} as const

/** Content (D31 to D35). */
export const downloads = {
  "D31.notReady": "Before completion: 409 `result_not_ready`",
  "D31.notFound": "a failed or cancelled job: 404 `result_not_found`",
  "D31.expired": "after the window: 410 `result_expired`.",
  "D31.unknown": "Another account's job, or an unknown one: 404 `not_found`.",
  "D32.binds": "Signature: over method-independent text that binds path and `exp`.",
  "D32.keys": "keyed with the service's URL-signing key (several may be configured; the first signs, all verify)",
  "D32.wrong": "Wrong: 401 `invalid_signature` (counts as a failed authentication).",
  "D32.expired": "Past `exp`: 403 `signature_expired`.",
  "D32.half": "Only one of the pair: 400.",
  "D32.both": "A request may carry a key and a signed pair at once: either one being good is enough.",
  "D33.validators": "`Accept-Ranges: bytes`, strong `ETag`, `Last-Modified`",
  "D33.noneMatch": "`If-None-Match` (304)",
  "D33.ifRange": "`If-Range`",
  "D33.one": "one range → 206 with `Content-Range`",
  "D33.several": "several ranges → the header is ignored, 200",
  "D33.unsatisfiable": "unsatisfiable → 416 with `Content-Range: bytes */<size>`.",
  "D33.disposition": "`Content-Disposition` `inline`, or `attachment` with `download=1`, file name `<id>.<ext>`.",
  "D33.embedding":
    "`X-Content-Type-Options: nosniff`, `Cross-Origin-Resource-Policy: cross-origin`, `Access-Control-Allow-Origin: *`",
  "D33.cache": "`Cache-Control: private, max-age=<seconds left>`.",
  "D34.sent": "Bytes count as they are sent",
  "D34.fits": "a request is refused when what it asks for no longer fits the day.",
  "D34.head": "HEAD is checked like GET and sends nothing.",
  "D34.files":
    "`preview`, `thumb`, `poster` live at `/v1/generations/{id}/{preview,thumb,poster}`, same checks, not counted against `job_download_multiple`.",
  "D35.row": "When the window ends the job's row stays."
} as const

/** Reads (D36 to D39). */
export const reading = {
  "D36.day": "jobs count on the UTC day they reached their final status.",
  "D36.invalid": "Bad pattern, impossible date, `from` after `to`, more than 31 days: 400 `invalid_range`.",
  "D36.sorted": "Rows sorted by day, plan, model; only days with jobs.",
  "D37.invalid": "`wait` that is not an integer ≥ 0: 400 `invalid_params`.",
  "D37.final": "It returns as soon as the job is final",
  "D37.places": "Beyond 20 at the same time per key it returns at once (200).",
  "D37.disconnect": "A client that disconnects frees its place at once.",
  "D38.list": "`GET /v1/generations?status=&kind=&plan=&limit=1..100&cursor=`, newest first, `{data, next_cursor}`.",
  "D38.filters": "`status=`, `kind=`, `plan=`",
  "D38.pages": "`limit=1..100&cursor=`",
  "D38.own": "newest first, of the account only",
  "D39.stream":
    "`GET /v1/generations/{id}/events`, `text/event-stream`, one `generation` event per change with the job object as data",
  "D39.ends": "ends after the final one",
  "D39.counts": "counts as a long poll."
} as const

/** Statuses and codes (D40): one sentence for each code that there is. */
export const codes = {
  "D40.invalid_request": "400 `invalid_request` (malformed JSON or schema; `details.issues`)",
  "D40.invalid_params": "400 `invalid_params`",
  "D40.invalid_image": "400 `invalid_image`",
  "D40.invalid_idempotency_key": "400 `invalid_idempotency_key`",
  "D40.invalid_range": "400 `invalid_range`",
  "D40.plan_required": "400 `plan_required`",
  "D40.plan_conflict": "400 `plan_conflict`",
  "D40.model_not_in_plan": "400 `model_not_in_plan`",
  "D40.model_kind_mismatch": "400 `model_kind_mismatch`",
  "D40.unauthorized": "401 `unauthorized` (with `WWW-Authenticate: Bearer`)",
  "D40.invalid_signature": "401 `invalid_signature`",
  "D40.plan_inactive": "402 `plan_inactive`",
  "D40.quota_exceeded": "402 `quota_exceeded`",
  "D40.insufficient_credits": "402 `insufficient_credits`",
  "D40.signature_expired": "403 `signature_expired`",
  "D40.account_suspended": "403 `account_suspended`",
  "D40.not_found": "404 `not_found`",
  "D40.model_not_found": "404 `model_not_found`",
  "D40.upload_not_found": "404 `upload_not_found`",
  "D40.result_not_found": "404 `result_not_found`",
  "D40.method_not_allowed": "405 `method_not_allowed` (with `Allow`)",
  "D40.not_cancellable": "409 `not_cancellable`",
  "D40.result_not_ready": "409 `result_not_ready`",
  "D40.idempotency_in_progress": "409 `idempotency_in_progress`",
  "D40.result_expired": "410 `result_expired`",
  "D40.payload_too_large": "413 `payload_too_large`",
  "D40.unsupported_media_type": "415 `unsupported_media_type`",
  "D40.range_not_satisfiable": "416 `range_not_satisfiable`",
  "D40.idempotency_key_reused": "422 `idempotency_key_reused`",
  "D40.generation_failed": "422 `generation_failed`",
  "D40.content_rejected": "422 `content_rejected`",
  "D40.rate_limited": "429 `rate_limited`",
  "D40.queue_full": "429 `queue_full`",
  "D40.download_limited": "429 `download_limited`",
  "D40.internal_error": "500 `internal_error`",
  "D40.model_unavailable": "503 `model_unavailable` (with `Retry-After`)",
  "D40.unavailable": "503 `unavailable` (with `Retry-After`)",
  "D40.generation_pending": "504 `generation_pending`"
} as const satisfies Readonly<Record<`D40.${ErrorCode}`, string>>

/** Messages and the envelope (D41, D42). */
export const messages = {
  "D41.secrets": "A message says what was wrong and what to do, without echoing secrets",
  "D41.inside": "a 500 says nothing of the inside, and the log under the same request id says all.",
  "D42.exactly": "The envelope has exactly `code`, `message`, `plan`, `details`. `details` is always an object.",
  "D42.routes": "All errors use it: unknown routes, wrong methods, too large bodies and broken JSON too."
} as const

/** Operating (D49). */
export const operating = {
  "D49.healthz": "`GET /healthz` (process is up)",
  "D49.readyz": "`GET /readyz` (database, storage and migrations are good)",
  "D49.metrics": "`GET /metrics` (Prometheus text)",
  "D49.openapi": "`GET /openapi.json` (3.1)",
  "D49.docs": "`GET /docs`."
} as const
