/** Statements of `docs/reference/http-api.md` about models, the account, usage and health, by section. */
export const reports = {
  "models": {
    "models.list": "`GET /v1/models` returns `data`, an array of the models on sale.",
    "models.get": "`GET /v1/models/{id}` returns one of them, or 404 `model_not_found`.",
    "models.id": "`id` | string | the value for `model` in requests",
    "models.name": "`name` | string | for people",
    "models.kind": "`kind` | string | `image` or `video`",
    "models.studioEligible": "whether the Studio plan includes the model",
    "models.status": "`status` | string | `available`",
    "models.degraded": "`degraded` (served, slower)",
    "models.paused": "`paused` (new jobs return 503 `model_unavailable`)",
    "models.capabilities": "`capabilities` | array or null | modes",
    "models.maxReferenceImages": "`max_reference_images` | integer | input images per job",
    "models.maxPromptChars": "`max_prompt_chars` | integer | Unicode code points of a prompt",
    "models.paramsSchema":
      "`params_schema` | array or null | parameters: `name`, `type`, and optionally `default`, `min`, `max`, `values`",
    "models.priceTable": "`price_table` | array or null | prices: `params` (object) and `credits` (integer)",
    "models.alias":
      "A request can name a model by an alias, such as a former id, which the list does not contain. The job has the id of the model, and `GET /v1/models/{id}` returns the model.",
    "models.follows":
      "A model is `degraded` or `paused` if the operator has set it so, or while its upstreams fail. In the second case, `Retry-After` of the 503 is the time until an upstream is tested. A rejected request is not charged, and its `Idempotency-Key` can be used again.",
    "models.withdrawn": "A withdrawn model is not listed"
  },
  "account": {
    "account.get": "`GET /v1/account` returns the account of the key.",
    "account.user": "`user.id`, `user.email` | string",
    "account.balance": "`balance_usd_cents` | integer",
    "account.plans": "`plans.studio`, `plans.credits` | object | both groups, independent of each other",
    "account.keyRpmCap": "`api.key_rpm_cap` | integer | requests per minute of a key, all endpoints together",
    "account.keyBudget":
      "`api.key_budget` | object or null | the [budget](#budgets-of-api-keys) of the key; `null` for a key without limits",
    "account.ttl": "`results.api_ttl_hours` | integer",
    "account.downloadBytes": "GiB that the account can download per UTC day",
    "account.usedBytes": "`results.download.used_bytes_today` | integer or null",
    "account.multiple": "how many times its size each result can be downloaded per UTC day",
    "account.planFields":
      "Both plans have `active`, `tier` (string or null), `period_end` (time or null), `auto_renew`, `concurrency` (jobs running at once; more wait) and `create_rpm` (creations per minute).",
    "account.keyBudgetUse":
      "`api.key_budget` has `credits_per_day`, `credits_per_month`, `jobs_per_day` and `jobs_per_month`, each `null` for no limit, and `used`, with the `credits` and `jobs` of the `day` and the `month`.",
    "account.noQuota": "`plans.studio.quota` is `null` without an active Studio plan",
    "account.quota":
      "else it has `day`, `resets_at` (the next 00:00 UTC), and `video` and `image`, each with `limit`, `used` and `remaining`",
    "account.creditsRemaining":
      "`plans.credits.credits_remaining` is what jobs with `plan` `credits` can spend, with or without a Credits plan.",
    "account.lots": "`plans.credits.lots` is an array (or null) of lots"
  },
  "usage": {
    "usage.range":
      "`to` is the last day, inclusive (default today); `from` is the first day (default 6 days before `to`).",
    "usage.max": "At most 31 days.",
    "usage.invalid": "A malformed or impossible date, `from` after `to`, and a longer span return 400 `invalid_range`.",
    "usage.grouped": "returns jobs by UTC day, plan group, model and kind",
    "usage.response":
      "The response has `from`, `to`, `data` (array or null of rows) and `totals` (`completed`, `credits`).",
    "usage.row":
      "A row has `day`, `plan`, `model`, `kind`, `completed`, `failed`, `cancelled` and `credits` (charged by completed jobs; 0 for `studio`).",
    "usage.keys":
      "With `group_by=key`, rows are also grouped by API key: each has `key` with the `id` of the key and its `name` (null once the key is [deleted](retention.md)).",
    "usage.day": "A job counts on the UTC day on which it reached its final status.",
    "usage.sorted": "Rows are sorted by day, plan and model."
  },
  "health": {
    "health.healthz": "200 `{\"status\":\"ok\"}` while the process is up",
    "health.readyz": "200 `{\"status\":\"ready\"}` if the service can take requests",
    "health.openapi": "`GET /openapi.json` | OpenAPI 3.1",
    "health.docs": "`GET /docs` | the API reference, which shows the OpenAPI documents of the listener",
    "health.start": "`GET /` | 302 to `/docs`",
    "health.cached": "`/openapi.json` carries an `ETag`, can be cached for 5 minutes, and is compressed with `gzip`.",
    "health.page":
      "The page carries an `ETag`; its files are compressed with `br` or `gzip` and can be cached for a year.",
    "health.policy":
      "The page loads nothing from other servers, and its `Content-Security-Policy` allows only its own scripts."
  },
  "metrics": {
    "metrics.metrics":
      "`GET /metrics` on the listener for operators returns Prometheus text with the counts of this process."
  }
} as const
