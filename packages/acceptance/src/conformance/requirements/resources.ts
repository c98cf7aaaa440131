/** What `interface.md` says of the resources and their fields. */

/** What the service does. */
export const service = {
  "service.address": "Base address: {base_url}. All request and response bodies are JSON unless stated.",
  "service.asynchronous":
    "The service creates images and videos from a prompt as asynchronous jobs. A job is created, then polled, then its result is downloaded.",
  "service.plan":
    "Every job is charged to one of two independent plan groups, chosen by the caller with the `plan` field.",
  "service.studio": "`studio` (a daily quota of images and videos, renewing at 00:00 UTC)",
  "service.credits": "`credits` (a balance made of credit lots)",
  "service.noSwitch": "The service never switches group on its own.",
  "service.otherPlan":
    "When the chosen group is out of quota or credits, the request fails with an error and the caller may retry with the other plan.",
  "service.refund": "Cancelling a job that has not started running refunds it in full.",
  "service.content": "The service streams the result of a job created through the API from its own content endpoint.",
  "service.window": "Results are available only for a download window after completion.",
  "service.images":
    "An image endpoint accepts the request shape of common image-generation client libraries (only `generations`, with one image per request; no edits and no variations)."
} as const

/** Generation (the job object). */
export const job = {
  "job.returned": "Returned by create, get and cancel.",
  "job.present": "All listed fields are always present (nullable ones carry null) except `next`.",
  "job.id": "id | string | job id",
  "job.model": "model | string | model id from the model list",
  "job.kind": "kind | string | image or video kind of the job",
  "job.mode": "mode | string",
  "job.plan": "plan | string | plan group charged",
  "job.status": "status | string | see States and transitions",
  "job.prompt": "prompt | string or null",
  "job.params": "params | PublicParams",
  "job.cost_credits": "cost_credits | int64 or null",
  "job.quota_kind": "quota_kind | string or null",
  "job.watermark": "watermark | boolean",
  "job.refunded": "refunded | boolean",
  "job.error_code": "error_code | string or null",
  "job.error": "error | PublicError or null",
  "job.output": "output | PublicOutput or null",
  "job.preview_url": "preview_url | string or null",
  "job.thumb_url": "thumb_url | string or null",
  "job.poster_url": "poster_url | string or null",
  "job.result_expires_at": "result_expires_at | date-time or null",
  "job.queued_at": "queued_at | date-time",
  "job.started_at": "started_at | date-time or null",
  "job.finished_at": "finished_at | date-time or null",
  "job.created_at": "created_at | date-time",
  "job.next": "next | Next | present only while the job is not finished",
  "job.nextFields":
    "Next: `action` (enum: `poll`), `after_seconds` (int64, seconds to wait before polling again); both required.",
  "job.publicParams":
    "PublicParams (all optional): `aspect_ratio` string, `duration` int64, `resolution` string, `images` array or null of PublicImage.",
  "job.publicImage": "PublicImage (all required): `index` int64, `mime` string, `width` int64, `height` int64.",
  "job.publicOutput":
    "PublicOutput (all required): `url` string (signed content URL carrying `exp` and `sig`), `mime` string, `bytes` int64, `expires_at` date-time.",
  "job.publicError": "PublicError (all required): `code` string, `message` string, `reason` string or null."
} as const

/** CreateGenerationRequest. */
export const createRequest = {
  "request.plan": "plan | string enum `studio`, `credits` | required | group to charge",
  "request.model": "model | string | required | id from the model list",
  "request.params": "params | Params | required",
  "request.closed": "Params (no other properties allowed)",
  "request.prompt": "`prompt` string (required)",
  "request.optional":
    "optional `aspect_ratio` string, `duration` int64, `mode` string, `resolution` string, `images` array or null of InputImage",
  "request.images": "Input images are sent as base64 inside `params.images`.",
  "request.inputImage": "InputImage (all optional): `data` string, `mime` string, `upload_id` string."
} as const

/** Image request and response (client-library shaped). */
export const imageRequest = {
  "image.additional": "Additional properties are accepted.",
  "image.model": "model | string | required | image model id",
  "image.prompt": "prompt | string | required",
  "image.n": "n | int64 | must be 1 or omitted",
  "image.plan": "plan | string | `studio` or `credits`; same meaning as header `X-Plan`",
  "image.quality": "quality | string | `hd` selects 2k resolution when the model supports it; other values are ignored",
  "image.responseFormat": "response_format | string | `url` (default) or `b64_json`",
  "image.size":
    "size | string | `1024x1024`, `1536x1024`, `1792x1024`, `1024x1536`, `1024x1792` or `auto`; mapped to the nearest aspect ratio the model supports",
  "image.user": "user | string | ignored",
  "image.response": "Image response: `created` (int64, Unix time) and `data` (array or null) of ImageData",
  "image.url": "ImageData has optional `url` (string, valid for the download window)",
  "image.b64": "optional `b64_json` (string, base64 image, when `response_format` is `b64_json`)"
} as const

/** Model (PublicModel). */
export const model = {
  "model.id": "Required: `id` string",
  "model.name": "`name` string",
  "model.kind": "`kind` string",
  "model.studio_eligible": "`studio_eligible` boolean (included in the Studio plan)",
  "model.status": "`status` string",
  "model.capabilities": "`capabilities` array or null of strings",
  "model.max_reference_images": "`max_reference_images` int64",
  "model.max_prompt_chars": "`max_prompt_chars` int64",
  "model.params_schema": "`params_schema` array or null of PublicSchemaParam",
  "model.price_table": "`price_table` array or null of PublicPrice",
  "model.schemaParam":
    "PublicSchemaParam: `name` string and `type` string (required); optional `default` (any), `min` int64, `max` int64, `values` (array or null of any).",
  "model.price": "PublicPrice (both required): `params` (object of any values) and `credits` (int64).",
  "model.list": "ModelList: `data` (array or null of PublicModel), required."
} as const

/** Account. */
export const account = {
  "account.required":
    "Required: `user` {`id` string, `email` string}, `balance_usd_cents` int64, `plans`, `api`, `results`.",
  "account.api": "api | key_rpm_cap int64 (requests per minute per API key across all endpoints)",
  "account.plans": "plans | studio (StudioPlan), credits (CreditsPlan)",
  "account.results":
    "results | api_ttl_hours int64 (hours after completion during which a result can be downloaded); download (DownloadLimits)",
  "account.studioPlan":
    "StudioPlan | active boolean; tier string or null; period_end date-time or null; auto_renew boolean; quota StudioQuota or null; concurrency int64; create_rpm int64",
  "account.noQuota": "quota StudioQuota or null (null when no Studio plan is active)",
  "account.concurrency": "concurrency int64 (jobs running at once; more are queued)",
  "account.createRpm": "create_rpm int64 (job creations per minute with plan=studio)",
  "account.studioQuota":
    "StudioQuota | day string (UTC day of the counters); resets_at date-time (next 00:00 UTC); video QuotaCount; image QuotaCount",
  "account.quotaCount": "QuotaCount | limit int64; used int64; remaining int64",
  "account.creditsPlan":
    "CreditsPlan | active boolean; tier string or null; period_end date-time or null; auto_renew boolean; credits_remaining int64; lots array or null of CreditLot; concurrency int64; create_rpm int64 (creations per minute with plan=credits)",
  "account.creditsRemaining":
    "credits_remaining int64 (credits that plan=credits jobs can spend, whether or not a Credits plan is active)",
  "account.lot":
    "CreditLot | kind enum `plan`, `addon`, `trial`, `refund`; remaining int64; expires_at date-time; images_only boolean; watermark boolean",
  "account.trial": "watermark boolean (trial lots carry a watermark and are never used by API jobs)",
  "account.downloadBytes":
    "user_gib_per_day int64 (GiB the account can download through the content endpoint per UTC day)",
  "account.usedBytes": "used_bytes_today int64 or null (null when the counter is unavailable)",
  "account.multiple": "job_download_multiple int64 (each result can be downloaded this many times its size per UTC day)"
} as const

/** Usage report. */
export const usage = {
  "usage.required":
    "Required: `from` string, `to` string, `data` (array or null of UsageRow), `totals` {`completed` int64, `credits` int64}.",
  "usage.row":
    "UsageRow (all required): `day` string (UTC, YYYY-MM-DD), `plan` enum `studio`/`credits`, `model` string, `kind` enum `image`/`video`, `completed` int64, `failed` int64, `cancelled` int64, `credits` int64",
  "usage.credits": "`credits` int64 (credits charged by completed jobs; 0 for the studio plan)"
} as const

/** Error envelope. */
export const envelope = {
  "envelope.fields": "`{ error: { code, message, plan, details } }`, all four inner fields required",
  "envelope.code": "`code` string (machine-readable), `message` string (human-readable)",
  "envelope.plan": "`plan` string or null (`studio` or `credits` when the error applies to a group)",
  "envelope.details": "`details` object (code-specific)"
} as const
