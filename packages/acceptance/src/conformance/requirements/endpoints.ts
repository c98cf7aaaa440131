/** What `interface.md` says of states, endpoints, authentication, errors, limits and versions. */

/** States and transitions. */
export const states = {
  "states.pending": "`pending` (a job waiting in the queue because the concurrency limit is reached)",
  "states.completed": "`completed` (finished, result downloadable)",
  "states.outcomes": "Outcome counters in the usage report name completed, failed and cancelled jobs.",
  "states.processing": "A job is also described as processing once it has started running.",
  "states.cancelPending":
    "pending (not started) | POST cancel | job has not started running | cancelled | full refund; job returned with 200",
  "states.cancelProcessing": "processing | POST cancel | job already processing | unchanged | error `not_cancellable`",
  "states.success":
    "running | generator finishes | success | completed | result downloadable during the download window",
  "states.failure": "running | generator fails | failure | failed | refunded",
  "states.started": "queued | generator starts the job | processing",
  "states.excess":
    "When a new job exceeds the number of jobs allowed to run at once, it waits as pending and is not rejected."
} as const

/** POST /v1/generations: create a job. */
export const create = {
  "create.bearer":
    "All endpoints require a bearer API key, except that the content endpoints also accept a signed URL.",
  "create.key": "Header `Idempotency-Key` (optional): 1 to 255 printable ASCII characters.",
  "create.repeat": "Repeating a request with the same key and body returns the first job and charges once.",
  "create.window": "Without the header, an identical request within 120 seconds also returns the first job.",
  "create.variants": "Use a different key per call to make variants of the same prompt.",
  "create.201": "201: Generation",
  "create.location": "header `Location` (job URL)",
  "create.replayedHeader": "header `Idempotent-Replayed` (true when an earlier job for the same request was returned)",
  "create.limitHeaders":
    "headers `X-RateLimit-Limit` (requests per minute for the chosen plan), `X-RateLimit-Remaining`, `X-RateLimit-Reset` (Unix time when the minute ends)",
  "create.200":
    "200: replay of an earlier job for the same key and body; Generation; nothing new created or charged; headers `Idempotent-Replayed` (always true) and `Location`.",
  "create.errors": "Errors: error envelope (out of quota or credits for the chosen plan, rate limits, queue full)."
} as const

/** GET /v1/generations/{id}: get a job. */
export const get = {
  "get.id": "Path `id`: string, generation id (required).",
  "get.wait":
    "Query `wait` (optional): integer >= 0, seconds to hold the request open until the job reaches a final status or the wait ends, whichever is first.",
  "get.waitMax": "Values above 60 are treated as 60.",
  "get.200": "200: Generation."
} as const

/** POST /v1/generations/{id}/cancel: cancel a job. */
export const cancel = {
  "cancel.path": "Path `id`; no body.",
  "cancel.refund": "Cancels a job that has not started running and refunds it in full. 200: Generation.",
  "cancel.processing": "A job already processing yields error `not_cancellable`."
} as const

/** GET and HEAD /v1/generations/{id}/content: download the result. */
export const content = {
  "content.pair":
    "Optional query: `exp` (string, Unix seconds expiry of a signed URL), `sig` (string, signature as returned in `output.url`)",
  "content.download": "`download` (string; value `1` sends `Content-Disposition: attachment`)",
  "content.range": "Optional header `Range`: one byte range per request, for example of the form bytes=<start>-<end>.",
  "content.200": "GET: 200 with the whole result",
  "content.206": "206 with the requested range",
  "content.headChecks": "HEAD: same checks and limits as GET",
  "content.head": "200 with headers, including `Content-Length` with the total size, and no body",
  "content.headErrors": "errors use the envelope",
  "content.expired": "After the download window (`results.api_ttl_hours`) the result is gone: 410 `result_expired`.",
  "content.limits":
    "Per-account limits on parallel streams, daily bytes and downloads per result answer 429 with `Retry-After`."
} as const

/** POST /v1/images/generations: create an image (client-library shaped). */
export const images = {
  "images.base": "Works with common image client libraries when their base URL is set to `{base_url}/v1`.",
  "images.only": "Only `images/generations` exists, with `n` = 1; there are no edits and no variations.",
  "images.key":
    "Headers: `Idempotency-Key` (optional; same key and body returns the first job; retrying the same request does not charge twice)",
  "images.xPlan": "`X-Plan` (optional, `studio` or `credits`)",
  "images.creditsModel": "Without `plan` (body) or `X-Plan`, a model that is not in Studio uses credits",
  "images.studioModel": "a Studio model requires one of them.",
  "images.200":
    "200: image response; headers `X-RateLimit-Limit`, `X-RateLimit-Remaining`, `X-RateLimit-Reset` (int64).",
  "images.waits": "The request waits for the image.",
  "images.pending":
    "When it takes too long it answers 504 `generation_pending` with `details.generation_id`; the caller then polls GET /v1/generations/{id}."
} as const

/** GET /v1/models, GET /v1/account, GET /v1/usage. */
export const reads = {
  "models.200":
    "200: ModelList, the models on sale with capabilities, parameters, credit price table and `studio_eligible`.",
  "account.200":
    "200: Account (both plan groups side by side and independent, their limits, and the result download window and limits).",
  "usage.from":
    "Query `from` (optional, string, pattern four digits-two digits-two digits, first UTC day; default 6 days before `to`)",
  "usage.to": "`to` (optional, same pattern, last UTC day, inclusive; default today).",
  "usage.span": "At most 31 days; default span is the last 7 days.",
  "usage.grouped": "Jobs are grouped per UTC day, plan group, model and kind. 200: Usage report."
} as const

/** Authentication. */
export const authentication = {
  "authentication.bearer":
    "All operations use HTTP bearer authentication: header `Authorization: Bearer <API_KEY>`, where the key is issued from the account.",
  "authentication.signed":
    "The content endpoints also accept no key when the query carries a valid signed pair `exp` and `sig` taken from `output.url` (for example in a video tag).",
  "authentication.limit": "Failed authentication attempts are limited per IP address (see Limits)."
} as const

/** Errors. */
export const errors = {
  "errors.envelope": "Every error response is the error envelope (see Resources).",
  "errors.plan": "`details` is an object; `plan` names the group the error applies to or is null.",
  "errors.notCancellable": "Cancel of a job already processing | not_cancellable",
  "errors.resultExpired": "Result fetched after the download window | 410 | result_expired",
  "errors.pending":
    "Image endpoint request takes too long | 504 | generation_pending | details.generation_id holds the job id",
  "errors.keyLimit": "Per-key request limit exceeded | 429 | details.scope = key; Retry-After",
  "errors.planLimit":
    "Job-creation limit of the chosen plan group exceeded | 429 | details.scope = plan; the group in `plan`; Retry-After",
  "errors.authLimit": "Failed authentication limit from one IP exceeded | 429 | details.scope = auth; Retry-After",
  "errors.queueFull": "20 jobs already waiting in the queue for the account | 429 | queue_full | Retry-After",
  "errors.contentLimits": "Content limits (parallel streams, daily bytes, downloads per result) | 429 | Retry-After",
  "errors.outOfPlan": "Chosen plan group out of quota or credits | the caller may retry with the other plan",
  "errors.retryAfter": "Every 429 carries `Retry-After` (seconds to wait).",
  "errors.retrySameKey":
    "Recommended handling: wait that long, then retry with the same `Idempotency-Key` so an accepted request is not charged twice."
} as const

/** Limits. */
export const limits = {
  "limits.key":
    "Requests per API key | 300 per minute, all endpoints together (`api.key_rpm_cap`) | 429, details.scope = key",
  "limits.creation":
    "Job creation (POST /v1/generations and POST /v1/images/generations) | per tier of the chosen plan group | 429, details.scope = plan, group in `plan`",
  "limits.authentication": "Failed authentication from one IP address | 60 per minute | 429, details.scope = auth",
  "limits.longPolls":
    "Long-polling requests (`wait`) per key | 20 at the same time | the request returns at once with the current state",
  "limits.queue": "Jobs waiting in the queue | 20 per account | 429 queue_full",
  "limits.concurrency": "Jobs running at once | per tier | extra jobs wait as pending; not rejected",
  "limits.wait": "`wait` parameter | values above 60 are treated as 60",
  "limits.usage": "Usage report span | at most 31 days; default last 7 days",
  "limits.idempotency": "Idempotency window without a key | identical request within 120 seconds returns the first job",
  "limits.window": "Result download window | `results.api_ttl_hours` hours after completion | 410 result_expired",
  "limits.streams": "Content downloads | per-account parallel streams | 429 with Retry-After",
  "limits.bytes": "Content downloads | GiB per UTC day (`user_gib_per_day`) | 429 with Retry-After",
  "limits.downloads":
    "Content downloads | per result a multiple of its size per UTC day (`job_download_multiple`) | 429 with Retry-After",
  "limits.studio.starter": "studio | starter | 20 creations per minute | 1 job running at once",
  "limits.studio.pro": "studio | pro | 40 creations per minute | 2 jobs running at once",
  "limits.studio.scale": "studio | scale | 80 creations per minute | 4 jobs running at once",
  "limits.credits.starter": "credits | starter | 30 creations per minute | 2 jobs running at once",
  "limits.credits.pro": "credits | pro | 60 creations per minute | 4 jobs running at once",
  "limits.credits.business": "credits | business | 120 creations per minute | 8 jobs running at once",
  "limits.free": "no plan | free | 10 creations per minute | 1 job running at once",
  "limits.account": "`GET /v1/account` shows the applicable `create_rpm` and `concurrency` of each group.",
  "limits.headers":
    "Every response carries `X-RateLimit-Limit` (limit applying to the request), `X-RateLimit-Remaining` (requests left in the current minute) and `X-RateLimit-Reset` (Unix time when the minute ends).",
  "limits.describe": "On job creation they describe the chosen plan group; on other endpoints, the per-key limit.",
  "limits.minutes":
    "Windows are fixed minutes that reset at the start of each minute; `Retry-After` is the time left in the current minute."
} as const

/** Versioning. */
export const versioning = {
  "versioning.version": "The interface version is 1.0.0 and all paths carry the prefix `/v1`.",
  "versioning.images": "The image endpoint is meant to be reached with the client library base URL `{base_url}/v1`."
} as const
