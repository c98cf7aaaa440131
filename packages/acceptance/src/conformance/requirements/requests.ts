/** Statements of `docs/reference/http-api.md` about requests, limits, plans and credits, by section. */
export const requests = {
  "overview": {
    "overview.asynchronous":
      "Kinora creates images and videos from a prompt as asynchronous jobs. A client creates a job, polls it or receives a webhook, and downloads its result.",
    "overview.plan": "Each job is charged to one of two independent plan groups, which the caller names in `plan`",
    "overview.studio": "`studio`: a daily quota of images and videos that resets at 00:00 UTC",
    "overview.credits": "`credits`: a balance made of credit lots",
    "overview.noSwitch": "The service never switches the group.",
    "overview.otherPlan":
      "If the chosen group has no quota or credits left, the request fails and the caller can retry with the other group.",
    "overview.refund": "A job that is cancelled before it starts, or that fails, is refunded in full."
  },
  "conventions": {
    "conventions.baseUrl":
      "The base address is `{base_url}`: the value of `KINORA_BASE_URL`, or the origin of the request if that is unset.",
    "conventions.links":
      "`Location`, `output.url`, the other signed URLs and the `url` of the image endpoint start with it.",
    "conventions.version": "The API version is 1.0.0. All paths of the client API start with `/v1`.",
    "conventions.spellings":
      "Another spelling of a path is an unknown path: other letter case, a `/` at its end, a doubled `/`, `;`, dot segments, or percent-encoded letters.",
    "conventions.absolute":
      "An absolute URL as request target has the same response as its path. Its host replaces `Host`.",
    "conventions.host":
      "A request without `Host`, with several, or with an invalid one returns 400 `invalid_request`. So does the method `CONNECT`.",
    "conventions.json": "Bodies of requests and responses are JSON unless stated otherwise.",
    "conventions.compression":
      "JSON from 4 KiB to 512 KiB is compressed with `br` or `gzip` if `Accept-Encoding` allows it",
    "conventions.notCompressed": "except for that of the image endpoint.",
    "conventions.times": "Times are RFC 3339 in UTC with milliseconds",
    "conventions.integers": "Integers are JSON numbers within ±(2^53 − 1).",
    "conventions.documented": "A response contains only the properties documented here.",
    "conventions.unknown":
      "`CreateGenerationRequest`, `Params` and `InputImage` reject unknown properties with 400 `invalid_request`.",
    "conventions.additional": "The body of the image endpoint accepts and ignores them.",
    "conventions.requestId":
      "Every response carries `X-Request-Id`: the value that the caller sent, if it has 1 to 128 printable ASCII characters",
    "conventions.newRequestId": "else a new one"
  },
  "scripts-in-browsers": {
    "scripts.listed":
      "Scripts of other origins can call `/v1` only if the operator lists their origins in `KINORA_CORS_ORIGINS`",
    "scripts.allowed": "Responses to an allowed origin carry `Access-Control-Allow-Origin`",
    "scripts.preflight": "A preflight from an allowed origin returns 204 with the methods of the path",
    "scripts.credentials": "No response allows credentials such as cookies."
  },
  "identifiers": {
    "identifiers.ids": "Ids are TypeIDs: a prefix, `_`, and 26 characters that encode a UUIDv7.",
    "identifiers.webhookIds": "`whep_` | webhook endpoint",
    "identifiers.accountIds": "`acct_` | account | `evt_` | event",
    "identifiers.deliveryIds": "`dlv_` | webhook delivery",
    "identifiers.uploadIds": "`upl_` | upload",
    "identifiers.malformed": "A malformed id in a path is treated like an unknown one: 404 `not_found`.",
    "identifiers.others": "So is an id that belongs to another account."
  },
  "authentication": {
    "authentication.bearer": "Every `/v1` endpoint requires an API key in `Authorization: Bearer <API_KEY>`.",
    "authentication.signed":
      "The [content endpoints](#results) also accept a [signed URL](#signed-urls) without a key.",
    "authentication.unauthorized":
      "A missing, malformed, unknown or revoked key returns 401 `unauthorized` with `WWW-Authenticate: Bearer`.",
    "authentication.key":
      "A key is `kin_`, 43 base62 characters with 256 random bits, and 6 base62 characters with the CRC-32 of everything before them.",
    "authentication.terms":
      "A key can expire, and can be restricted to kinds of requests, to models and to networks of clients. A request after the expiry returns 401 `key_expired`, one that the key does not allow 403 `scope_missing`, `model_not_allowed` or `address_not_allowed`.",
    "authentication.revoked": "Revoking a key takes effect on every host within 5 seconds.",
    "authentication.limit":
      "Failed authentications are limited to 60 per minute and client address; further ones return 429 `rate_limited` with `details.scope` `auth`.",
    "authentication.others":
      "A request with a valid key is never rejected because of other failures from the same address.",
    "authentication.forwarded": "it is the right-most entry of `X-Forwarded-For` that is not a trusted proxy",
    "authentication.ipv6": "IPv6 addresses are counted per /64."
  },
  "errors": {
    "errors.envelope":
      "Every error response has this body, including those for unknown paths, wrong methods, malformed JSON and bodies that are too large",
    "errors.code": "`code` | string | machine-readable; each code has one status.",
    "errors.plan": "`studio` or `credits` if the error concerns a plan group",
    "errors.details": "depends on the code; `{}` for codes without details",
    "errors.secrets": "A message never repeats a secret.",
    "errors.internal": "A 500 does not expose internal errors; the log line with the same request id has the cause.",
    "errors.retryAfter": "carries `Retry-After` (whole seconds, at least 1)",
    "errors.retryAfterMs": "and `retry-after-ms` (the exact wait)",
    "errors.shouldRetry":
      "Errors for which a retry cannot help in reasonable time carry `x-should-retry: false`: 409 `not_cancellable`, a 429 that lasts until 00:00 UTC",
    "errors.retrySameKey": "describes the recommended handling."
  },
  "rate-limits": {
    "rate-limits.windows": "All windows are calendar minutes and UTC days.",
    "rate-limits.key": "requests per API key and minute | 429 `rate_limited`, `details.scope` `key`",
    "rate-limits.plan": "429 `rate_limited`, `details.scope` `plan`, the group in `plan`",
    "rate-limits.budget": "429 `key_budget_exceeded`, the group in `plan`",
    "rate-limits.queue": "jobs that wait for a slot | 429 `queue_full`",
    "rate-limits.downloads": "429 `download_limited`, `details.scope` `streams`, `bytes` or `downloads`",
    "rate-limits.daily": "the time until 00:00 UTC for daily limits",
    "rate-limits.resets": "the time until `details.resets_at` for budgets",
    "rate-limits.five": "5 seconds for `queue_full` and `streams`"
  },
  "rate-limit-headers": {
    "rate-limit-headers.headers": "Every response below `/v1/` carries three headers",
    "rate-limit-headers.remaining": "`X-RateLimit-Remaining` | what is left in this minute",
    "rate-limit-headers.reset": "`X-RateLimit-Reset` | Unix time at which the minute ends",
    "rate-limit-headers.describe": "creations per minute of the plan group | requests per minute of the key",
    "rate-limit-headers.anonymous": "failed authentications per minute of the address",
    "rate-limit-headers.unrouted":
      "An unknown path or a wrong method below `/v1/` counts like any other request with its key, and carries the limit of the key.",
    "rate-limit-headers.unroutedWrong": "A wrong key counts as a failed authentication.",
    "rate-limit-headers.unroutedAnonymous":
      "Without a key, an unknown path or a wrong method carries the limit of the address and consumes nothing.",
    "rate-limit-headers.none": "Health checks, metrics and documents carry none of these headers."
  },
  "idempotency": {
    "idempotency.key":
      "With the header `Idempotency-Key` (1 to 255 printable ASCII characters, else 400 `invalid_idempotency_key`)",
    "idempotency.scope": "Keys belong to the account and are shared by both creating endpoints.",
    "idempotency.kept": "A key is kept for 24 hours.",
    "idempotency.same": "The same key with the same body returns the first job in its current state",
    "idempotency.charged": "Nothing is created or charged.",
    "idempotency.reused": "The same key with another body returns 422 `idempotency_key_reused`.",
    "idempotency.concurrent": "While the first request with a key is being processed, a second one waits for it.",
    "idempotency.refunded":
      "This window ends early when the job is refunded: after a cancelled or failed job, the same request creates a new one.",
    "idempotency.window":
      "Without the header, an identical request within 120 seconds of the first one also returns the first job.",
    "idempotency.apart": "Such requests are matched only with other requests without a key, at the same endpoint.",
    "idempotency.variants":
      "To get several variants of one prompt, send a different `Idempotency-Key` with each request.",
    "idempotency.equal":
      "Two bodies are the same if they are equal after parsing. Key order and insignificant white space do not matter.",
    "idempotency.rejected": "A rejected request leaves nothing behind: its key can be used again."
  },
  "plans-and-credits": {
    "plans-and-credits.studioStarter": "`studio` | `starter` | 20 | 1",
    "plans-and-credits.studioPro": "`studio` | `pro` | 40 | 2",
    "plans-and-credits.studioScale": "`studio` | `scale` | 80 | 4",
    "plans-and-credits.creditsStarter": "`credits` | `starter` | 30 | 2",
    "plans-and-credits.creditsPro": "`credits` | `pro` | 60 | 4",
    "plans-and-credits.creditsBusiness": "`credits` | `business` | 120 | 8",
    "plans-and-credits.free": "no plan | `free` | 10 | 1",
    "plans-and-credits.returned": "`GET /v1/account` returns the values that apply."
  },
  "rejections": {
    "rejections.inactive": "`plan` is `studio` and no Studio plan is active | 402 `plan_inactive`",
    "rejections.notInPlan": "the model is not included in Studio | 400 `model_not_in_plan`",
    "rejections.quota": "402 `quota_exceeded` with `details.quota_kind` and `details.resets_at`",
    "rejections.credits": "402 `insufficient_credits` with `details.required` and `details.available`",
    "rejections.plan": "`plan` in the error names the group."
  },
  "studio-quota": {
    "studio-quota.day":
      "A Studio job counts in the quota for its kind (`image` or `video`) on the UTC day of its charge.",
    "studio-quota.refund": "A refund lowers the count of that day, never below 0, and never that of another day."
  },
  "budgets-of-api-keys": {
    "budgets-of-api-keys.refused":
      "A request whose job would exceed a limit returns 429 `key_budget_exceeded` and charges nothing.",
    "budgets-of-api-keys.details":
      "`details.limit` its value, `details.used` what is used of it, `details.required` what the job needs, and `details.resets_at` when the day or month ends.",
    "budgets-of-api-keys.last": "If a job exceeds several limits, the error has one that resets last.",
    "budgets-of-api-keys.counts": "A job counts in the day and the month of its `created_at`.",
    "budgets-of-api-keys.studio": "A Studio job counts as a job without credits.",
    "budgets-of-api-keys.refund":
      "A refund lowers the count of that day and that month, never below 0, and of no other.",
    "budgets-of-api-keys.exact": "concurrent requests never exceed one",
    "budgets-of-api-keys.replay": "A replay is never rejected for a budget.",
    "budgets-of-api-keys.rolled":
      "A key shares its budget, and what is used of it, with the keys that it replaced when they were rolled."
  },
  "credit-lots": {
    "credit-lots.spendable": "API jobs spend lots of kind `plan`, `addon` and `refund`",
    "credit-lots.expired": "that have not expired.",
    "credit-lots.imagesOnly": "Lots with `images_only` pay for image jobs only.",
    "credit-lots.trial": "API jobs never spend `trial` lots.",
    "credit-lots.order": "Lots are spent in this order: soonest expiry first",
    "credit-lots.imagesFirst":
      "at the same expiry, `images_only` lots before others; then `plan`, `refund`, `addon`; then the oldest",
    "credit-lots.several": "A job can draw on several lots. The charge is all or nothing.",
    "credit-lots.returns": "A refund returns each part to the lot that paid it.",
    "credit-lots.lapsed": "If that lot has expired, the part becomes a new `refund` lot that expires 30 days later.",
    "credit-lots.once": "A job is refunded at most once.",
    "credit-lots.entries":
      "Every charge, grant, refund and expiry is an append-only, balanced double entry with a unique reference.",
    "credit-lots.verified":
      "Operators can [verify](operator-api.md#ledger) the balances against the entries at any time."
  },
  "renewal": {
    "renewal.renews":
      "the next period is paid from `balance_usd_cents` within the last minute of the current one, and a Credits plan then receives the credits of its tier as a `plan` lot that expires with the new period",
    "renewal.unpaid": "If the balance is too low",
    "renewal.lapses": "or `auto_renew` is off, the plan lapses at `period_end`",
    "renewal.once": "Each renewal happens once, however many hosts run."
  }
} as const
