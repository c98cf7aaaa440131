/** Decisions on names, states, creating and the ledger (D2 to D25), as far as they are visible from outside. */

/** Names and formats (D2 to D5). */
export const names = {
  "D2.ids": "TypeID strings (prefix, `_`, 26 characters of base32 UUIDv7): `gen_` job, `acct_` account, `upl_` upload.",
  "D2.malformed": "A malformed id in a path is answered like an unknown one: 404 `not_found`.",
  "D3.form": "`kin_` + 43 base62 characters of 256 random bits + 6 characters of base62 CRC-32 over what precedes.",
  "D3.revoked": "Revoking takes effect on every host within 5 seconds.",
  "D4.times": "RFC 3339 in UTC with milliseconds and `Z`.",
  "D4.int64": "int64 values are JSON numbers within ±(2^53 − 1).",
  "D5.unknown":
    "Unknown properties in a request body are refused (400) in `CreateGenerationRequest`, `Params` and `InputImage`, and accepted in the image request.",
  "D5.responses": "Responses never carry properties that are not listed."
} as const

/** Job states (D6 to D12). */
export const jobStates = {
  "D6.strings": "`pending`, `queued`, `processing`, `completed`, `failed`, `cancelled`.",
  "D6.slots": "`queued` and `processing` jobs hold a slot; the number of slots is the group's `concurrency`.",
  "D7.new": "(new) → queued: a slot of the account and group is free",
  "D7.pending":
    "(new) → pending: no slot is free; at most 20 pending per account over both groups, else 429 `queue_full` and nothing charged",
  "D7.promotion": "pending → queued: a slot frees: oldest first within account and group",
  "D7.cancelled": "pending, queued → cancelled: cancel; full refund in the same transaction",
  "D7.processing": "queued → processing: a worker starts it",
  "D7.completed": "processing → completed: result stored",
  "D7.failed": "processing → failed: the generator failed for good; refunded",
  "D7.timeLimit": "processing → failed: it ran past the model's time limit; refunded",
  "D7.queueLimit": "pending, queued → failed: it waited longer than the queue limit (24 h); refunded",
  "D7.withdrawn": "pending, queued → failed: its model was withdrawn; refunded",
  "D8.again": "Cancel of an already cancelled job answers 200 with the job (so a retry is safe).",
  "D8.notCancellable":
    "Cancel of `processing`, `completed` or `failed`: 409 `not_cancellable`, `details.status` = the status.",
  "D9.kind": "`kind`: `image`, `video`.",
  "D9.mode": "`mode`: `text_to_image`, `image_to_image`, `text_to_video`, `image_to_video`.",
  "D9.omitted": "When `params.mode` is omitted it follows from the model's kind and whether images are given.",
  "D9.capabilities": "A model's `capabilities` lists its modes.",
  "D9.quotaKind": "`quota_kind`: `image` or `video` for the studio plan, null for credits.",
  "D9.degraded": "Model `status`: `degraded` (served, slower)",
  "D9.paused": "Model `status`: `paused` (listed; new jobs get 503 `model_unavailable`).",
  "D9.withdrawn": "A withdrawn model is not listed.",
  "D10.cost": "`cost_credits` is null for studio jobs.",
  "D10.queuedAt": "`queued_at` is when the service accepted the job (= `created_at`).",
  "D10.watermark": "`watermark` is true only when charged to a trial lot, which API jobs never are, so false.",
  "D10.output": "`output` is null until completed and again after the result expired.",
  "D10.image": "`preview_url` (images: at most 1024 px on the long side), `thumb_url` (at most 256 px, both kinds)",
  "D10.video": "`poster_url` (videos: first frame)",
  "D10.lifetime": "are signed URLs of the same lifetime as `output.url`, null where they do not apply.",
  "D11.after": "`next.after_seconds`: 1 for images, 5 for videos while queued or processing; 5 while pending.",
  "D11.max": "Never more than 30.",
  "D12.codes":
    "`code` one of `generation_failed`, `content_rejected`, `invalid_input`, `upstream_error`, `upstream_timeout`",
  "D12.timeLimit": "`code` one of `time_limit`",
  "D12.queueTimeout": "`code` one of `queue_timeout`",
  "D12.modelWithdrawn": "`code` one of `model_withdrawn`",
  "D12.repeats": "`error_code` repeats it",
  "D12.reason": "`reason` null or one short word (`safety`, `copyright`, `provider`, `internal`)."
} as const

/** Creating (D13 to D19). */
export const creating = {
  "D13.credentials": "Order of checks: credentials → per-key limit",
  "D13.keyLimit": "per-key limit → body size (413)",
  "D13.size": "body size (413) → JSON and schema (400)",
  "D13.schema": "JSON and schema (400) → idempotency look-up",
  "D13.replay": "idempotency look-up (a replay stops here and costs no creation budget)",
  "D13.planLimit": "per-plan creation limit (429) → model, plan and parameters (400/404/503)",
  "D13.params": "model, plan and parameters (400/404/503) → images decoded and probed (400)",
  "D13.images": "images decoded and probed (400) → charge (402)",
  "D13.charge": "charge (402), slot or queue place (429 `queue_full`)",
  "D13.nothing": "Whatever refuses, nothing is charged and the same idempotency key can be used again.",
  "D14.scope": "Scope: account + endpoint family (the two creating endpoints share it).",
  "D14.key": "Key: 1 to 255 printable ASCII characters (0x20 to 0x7E), else 400 `invalid_idempotency_key`.",
  "D14.kept": "Kept 24 hours.",
  "D14.same": "Same key and same body: the first job as it is now.",
  "D14.other": "Same key, other body: 422 `idempotency_key_reused`.",
  "D14.concurrent": "Same key while the first request is still being decided: the second waits for it",
  "D14.equal": "\"Same body\" means equal after parsing, key order and insignificant white space aside.",
  "D14.fingerprint": "Without a key the body's fingerprint is the key, for 120 seconds from the first acceptance.",
  "D14.apart": "Requests without a key are matched with such requests only, at the same endpoint.",
  "D14.refused": "A refused request leaves nothing behind.",
  "D15.new": "A new job: 201, `Idempotent-Replayed: false`.",
  "D15.replay": "A replay: 200, `Idempotent-Replayed: true`.",
  "D15.location": "Both carry `Location: {base_url}/v1/generations/{id}`.",
  "D16.inactive": "`plan=studio` with no active Studio plan: 402 `plan_inactive`.",
  "D16.notInPlan": "Model not in Studio: 400 `model_not_in_plan`.",
  "D16.quota": "Daily quota used up: 402 `quota_exceeded`, `details.quota_kind`, `details.resets_at`.",
  "D16.credits": "Credits short: 402 `insufficient_credits`, `details.required`, `details.available`.",
  "D16.plan": "In all of these `plan` names the group.",
  "D17.schema":
    "Parameters are checked against the model's `params_schema` (unknown name, wrong type, below `min`, above `max`, not among `values`)",
  "D17.prompt": "its `max_prompt_chars` (Unicode code points)",
  "D17.capabilities": "its capabilities and `max_reference_images`",
  "D17.issues":
    "400 `invalid_params`, `details.issues` = [{`path`, `message`}] with every problem, not only the first.",
  "D17.defaults": "Defaults are filled in, and `params` of the job shows them.",
  "D17.price": "Price: the `price_table` row whose `params` all match, most specific first",
  "D18.one": "exactly one of `data` (base64, a `data:` URL is accepted too) and `upload_id`.",
  "D18.dataUrl": "a `data:` URL is accepted too",
  "D18.types": "PNG, JPEG or WebP by content",
  "D18.mime": "`mime` must agree when given.",
  "D18.bytes": "At most 10 MiB decoded each",
  "D18.pixels": "and 40 megapixels",
  "D18.broken": "a truncated or mislabelled file is 400 `invalid_image`, `details.index`.",
  "D18.body": "Body limit: 48 MiB on the creating endpoints, 1 MiB elsewhere, 413 `payload_too_large`.",
  "D19.create":
    "`POST /v1/uploads`, body = the image bytes (its `Content-Type`); 201 `{id, mime, bytes, width, height, expires_at}`",
  "D19.multipart": "or multipart/form-data with one `file`",
  "D19.use": "usable by its account, any number of times.",
  "D19.expiry": "for 24 h",
  "D19.delete": "`DELETE /v1/uploads/{id}` 204."
} as const

/** Image endpoint (D20). */
export const imageEndpoint = {
  "D20.conflict": "`plan` in body and `X-Plan` that differ: 400 `plan_conflict`.",
  "D20.required": "Studio model without either: 400 `plan_required`.",
  "D20.video": "A video model: 400 `model_kind_mismatch`.",
  "D20.null": "An explicit null counts as absent for every field.",
  "D20.n": "`n` other than 1: 400 `invalid_params`",
  "D20.size": "a `size` that is neither `auto` nor `<W>x<H>`: 400 `invalid_params`",
  "D20.format": "an unknown `response_format`: 400 `invalid_params`",
  "D20.stream": "or `stream: true`: 400 `invalid_params`",
  "D20.nearest": "Any `<W>x<H>` maps to the nearest aspect ratio the model supports",
  "D20.auto": "omitted = `auto` = the model's default.",
  "D20.answer": "The answer's `Content-Type` is `application/json`, and `data` always holds one entry.",
  "D20.pending":
    "It waits at most 50 s (configurable), then 504 `generation_pending` with `details.generation_id`, `Retry-After: 1` and `retry-after-ms: 1000`.",
  "D20.again": "on this endpoint each 504 starts the 120 s of D14 anew for that job",
  "D20.reattach":
    "the retry waits on the same job, and a job of up to about 150 s comes back as an image, charged once.",
  "D20.disconnect": "A client that disconnects never cancels its job.",
  "D20.failed":
    "A job that failed: 422 `generation_failed` (or `content_rejected`) with `details.generation_id` and `details.reason`.",
  "D20.url": "`url` is on the origin of `{base_url}` and valid for the download window.",
  "D20.b64": "A model may be configured to answer `b64_json` when `response_format` is absent"
} as const

/** Ledger (D21 to D25). */
export const ledger = {
  "D21.spendable": "spendable by API jobs = kind `plan`, `addon` or `refund`",
  "D21.expired": "not expired",
  "D21.imagesOnly": "with `images_only` lots for image jobs only.",
  "D21.order": "Order: soonest expiry first",
  "D21.imagesFirst": "at the same expiry `images_only` before general, then `plan`, `refund`, `addon`",
  "D21.several": "One job may draw on several lots; it is all or nothing.",
  "D22.returns": "each part returns to the lot it came from",
  "D22.lapsed": "a part whose lot has expired meanwhile becomes a new `refund` lot that expires 30 days later.",
  "D22.once": "A job is refunded at most once, whatever happens twice.",
  "D23.day": "Studio quota is counted per UTC day of the charge.",
  "D23.refund": "A refund lowers that day's count (never below 0) and never another day's.",
  "D24.balanced": "every movement is an append-only, balanced double entry",
  "D24.verified": "balances are projections of it and can be rebuilt and verified from it at any time",
  "D25.quota": "studio starter 50 images + 5 videos, pro 200 + 20, scale 1000 + 100",
  "D25.renews":
    "At `period_end` a plan with `auto_renew` is paid from `balance_usd_cents` and gets its new period (and `plan` lot, expiring with the period)",
  "D25.price": "what a tier costs per 30 days (USD cents): studio starter 900, credits starter 1000 / 1 000 credits",
  "D25.unpaid": "without enough balance it lapses.",
  "D25.once": "Each happens once, however many hosts run.",
  "D25.lapses": "At `period_end` without `auto_renew`, a plan lapses."
} as const
