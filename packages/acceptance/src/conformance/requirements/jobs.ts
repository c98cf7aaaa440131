/** Statements of `docs/reference/http-api.md` about jobs, by section. */
export const jobs = {
  "the-job-object": {
    "the-job-object.returned": "Create, get, list, cancel and events return a job (`Generation`).",
    "the-job-object.id": "`id` | string | `gen_…`",
    "the-job-object.model": "`model` | string | id of the model",
    "the-job-object.kind": "`kind` | string | `image` or `video`",
    "the-job-object.mode": "`mode` | string | `text_to_image`, `image_to_image`, `text_to_video` or `image_to_video`",
    "the-job-object.plan": "`plan` | string | group that was charged",
    "the-job-object.status": "`status` | string | see [states](#job-states)",
    "the-job-object.prompt": "`prompt` | string or null | the prompt",
    "the-job-object.params": "`params` | object | the parameters, with the model's defaults filled in",
    "the-job-object.cost": "`cost_credits` | integer or null | credits charged; `null` for `studio`",
    "the-job-object.quotaKind": "`quota_kind` | string or null | `image` or `video` for `studio`, `null` for `credits`",
    "the-job-object.watermark": "`watermark` | boolean | always `false` for jobs created through the API",
    "the-job-object.refunded": "`refunded` | boolean | whether the charge was returned",
    "the-job-object.errorCode": "`error_code` | string or null | `error.code`",
    "the-job-object.error": "`error` | object or null | why the job failed",
    "the-job-object.output": "`null` until the job completes and again after the download window",
    "the-job-object.preview":
      "`preview_url` | string or null | images: signed URL of a WebP with at most 1024 px on the long side",
    "the-job-object.thumb": "`thumb_url` | string or null | signed URL of a WebP with at most 256 px on the long side",
    "the-job-object.poster": "`poster_url` | string or null | videos: signed URL of the first frame",
    "the-job-object.resultExpiresAt": "`result_expires_at` | time or null | end of the download window",
    "the-job-object.queuedAt": "`queued_at` | time | when the service accepted the job; equal to `created_at`",
    "the-job-object.startedAt": "`started_at` | time or null | when a worker first started it",
    "the-job-object.finishedAt": "`finished_at` | time or null | when it reached a final status",
    "the-job-object.createdAt": "`created_at` | time | when the service accepted the job",
    "the-job-object.next": "`next` | object | only until the job is final: `action` (`poll`) and `after_seconds`",
    "the-job-object.paramsFields":
      "`params` has `aspect_ratio` (string), `duration` (integer), `resolution` (string) and `images` where they apply.",
    "the-job-object.imageFields": "Each image has `index`, `mime`, `width` and `height`",
    "the-job-object.outputFields": "`output` has `url` ([signed](#signed-urls)), `mime`, `bytes` and `expires_at`.",
    "the-job-object.lifetime": "The signed URLs of a job all expire with the download window.",
    "the-job-object.afterSeconds":
      "1 for images and 5 for videos while the job is `queued` or `processing`, 5 while it is `pending`",
    "the-job-object.afterSecondsMax": "It is never more than 30.",
    "the-job-object.errorFields": "`error` has `code`, `message` and `reason`.",
    "the-job-object.reason": "`reason` is `null` or one of `safety`, `copyright`, `provider` and `internal`.",
    "the-job-object.generationFailed": "`generation_failed` | the generator could not make the result",
    "the-job-object.contentRejected": "`content_rejected` | the generator rejected the prompt or an image",
    "the-job-object.invalidInput": "`invalid_input` | the generator cannot process the input",
    "the-job-object.upstreamError": "`upstream_error` | the provider behind the generator failed",
    "the-job-object.upstreamTimeout": "`upstream_timeout` | the provider did not respond in time",
    "the-job-object.timeLimit": "`time_limit` | it ran longer than its model allows",
    "the-job-object.queueTimeout": "`queue_timeout` | it did not start within 24 hours",
    "the-job-object.modelWithdrawn": "`model_withdrawn` | its model was withdrawn before it started"
  },
  "create-a-job": {
    "create-a-job.plan": "`plan` | string | yes | group to charge: `studio` or `credits`",
    "create-a-job.model": "`model` | string | yes | id from the [model list](#models)",
    "create-a-job.params": "`params` | object | yes | see [parameters](#parameters)",
    "create-a-job.created": "201 | a job was created",
    "create-a-job.location": "`Location: {base_url}/v1/generations/{id}`",
    "create-a-job.replayed": "the same with `Idempotent-Replayed: true`; nothing was created or charged",
    "create-a-job.excess": "If more jobs run than the plan allows, the new job waits as `pending`; it is not rejected."
  },
  "order-of-checks": {
    "order-of-checks.credentials": "API key (401), requests per key (429)",
    "order-of-checks.size": "Size of the body (413).",
    "order-of-checks.schema": "Header `Idempotency-Key`, content type, JSON and schema (400, 415).",
    "order-of-checks.replay": "A replay returns here and does not count as a creation.",
    "order-of-checks.planLimit": "Creations per plan group (429).",
    "order-of-checks.params":
      "Model (404 `model_not_found`, 503 `model_unavailable`), plan (402 `plan_inactive`, 400 `model_not_in_plan`), parameters (400 `invalid_params`).",
    "order-of-checks.funds":
      "With input images or a moderation: budget of the key (429 `key_budget_exceeded`), credits or quota (402), and the room in the queue (429 `queue_full`), as they are now.",
    "order-of-checks.images": "Input images (400 `invalid_image`, 404 `upload_not_found`)",
    "order-of-checks.charge":
      "credits or quota are charged (402), the job takes a slot or a place in the queue (429 `queue_full`)",
    "order-of-checks.nothing":
      "Whichever check rejects the request, nothing is charged and the same `Idempotency-Key` can be used again."
  },
  "parameters": {
    "parameters.prompt": "`prompt` | string | yes | at most `max_prompt_chars` Unicode code points of the model",
    "parameters.duration": "`duration` | integer | no | seconds, for video models",
    "parameters.resolution": "`resolution` | string | no | one of the model's `values`",
    "parameters.optional": "`aspect_ratio` | string | no",
    "parameters.mode": "derived from the kind and `images` if missing",
    "parameters.images": "`images` | array or null | no | [input images](#input-images)",
    "parameters.schema":
      "Parameters are checked against the model's `params_schema` (unknown name, wrong type, below `min`, above `max`, not among `values`)",
    "parameters.capabilities": "`capabilities` and `max_reference_images`",
    "parameters.issues": "Any violation returns 400 `invalid_params` with every problem in `details.issues`.",
    "parameters.defaults": "Missing parameters take the model's defaults. `params` of the job shows them.",
    "parameters.price":
      "The price is the row of the model's `price_table` whose `params` all match the job. If several match, the row with the most parameters applies."
  },
  "input-images": {
    "input-images.one": "Each entry of `params.images` has exactly one of `data` and `upload_id`",
    "input-images.dataUrl": "the image in base64, or as a `data:` URL with base64",
    "input-images.mime": "media type; if given, it must match the content",
    "input-images.types": "The content must be PNG, JPEG or WebP",
    "input-images.uploadId": "`upload_id` | string | id of an [upload](#uploads) of the account",
    "input-images.bytes": "at most 10 MiB decoded",
    "input-images.pixels": "and 40 megapixels",
    "input-images.broken":
      "A truncated, mislabelled or unreadable image returns 400 `invalid_image` with its position in `details.index`.",
    "input-images.body": "The body of a creating request can have at most 48 MiB"
  },
  "uploads": {
    "uploads.create": "The body is the image itself with its `Content-Type`",
    "uploads.multipart": "or `multipart/form-data` with exactly one part, a file named `file`",
    "uploads.id": "`id` | string | `upl_…`",
    "uploads.mimeType": "`mime` | string | media type by content",
    "uploads.bytes": "`bytes` | integer | size of the stored image, which is re-encoded",
    "uploads.width": "`width` | integer | pixels",
    "uploads.height": "`height` | integer | pixels",
    "uploads.expiresAt": "24 hours after the upload",
    "uploads.use": "An upload belongs to its account and can be used until `expires_at`.",
    "uploads.delete": "`DELETE /v1/uploads/{id}` returns 204."
  },
  "job-states": {
    "job-states.strings": "No other transition happens.",
    "job-states.queuedStatus": "`queued` | holds a slot and waits for a worker",
    "job-states.failedStatus": "`failed` | failed and was refunded",
    "job-states.cancelledStatus": "`cancelled` | cancelled before it started, and was refunded",
    "job-states.pendingStatus": "`pending` | waits for a free slot of its account and plan group",
    "job-states.processingStatus": "`processing` | holds a slot and runs",
    "job-states.completedStatus": "finished; the result can be downloaded during the download window",
    "job-states.slots":
      "`queued` and `processing` jobs hold a slot. The number of slots is the `concurrency` of the plan group.",
    "job-states.new": "new | `queued` | a slot of the account and group is free",
    "job-states.pending":
      "no slot is free; an account can have 20 pending jobs over both groups, else 429 `queue_full` and nothing is charged",
    "job-states.promotion": "a slot becomes free: the oldest job of the account and group",
    "job-states.cancelled": "the client cancels; full refund in the same transaction",
    "job-states.started": "`queued` | `processing` | a worker starts the job",
    "job-states.startedOnce": "no second `started`",
    "job-states.completed": "the result is stored",
    "job-states.failed": "the generator failed permanently",
    "job-states.timeLimit": "the job exceeded the model's time limit",
    "job-states.notStarted": "it did not start within 24 hours",
    "job-states.withdrawn": "or its model was withdrawn"
  },
  "cancelling": {
    "cancelling.refund":
      "without a body, cancels a job that has not started, and refunds it in full. 200 returns the job.",
    "cancelling.again": "Cancelling a cancelled job again returns 200 with the job, so the request can be retried.",
    "cancelling.notCancellable":
      "A job that is `processing`, `completed` or `failed` is not changed: 409 `not_cancellable` with its status in `details.status`.",
    "cancelling.silent": "Cancelling sends no webhook."
  },
  "waiting": {
    "waiting.waits":
      "holds the request until the job is final or `wait` seconds have passed, then returns 200 with the job",
    "waiting.invalid": "`wait` is an integer of at least 0; anything else returns 400 `invalid_params`.",
    "waiting.max": "Values above 60 are treated as 60.",
    "waiting.final": "The response is sent as soon as the job is final",
    "waiting.places": "A further request with `wait` returns at once with the current state.",
    "waiting.disconnect": "If the client disconnects, its place becomes free at once."
  },
  "lists": {
    "lists.list": "`GET /v1/generations` returns the account's jobs, newest first",
    "lists.status": "`status` | only jobs with this status",
    "lists.kind": "`kind` | only `image` or `video`",
    "lists.plan": "`plan` | only `studio` or `credits`",
    "lists.model": "`model` | only jobs that were created for the model with this id",
    "lists.key": "`key` | only jobs that the API key with this id created",
    "lists.from": "`from` | only jobs created at this time or later",
    "lists.to": "`to` | only jobs created before this time",
    "lists.text": "`q` | only jobs whose prompt contains this text, of 1 to 100 characters",
    "lists.letters": "`q` ignores the case of the letters A to Z.",
    "lists.filtered":
      "With `model`, `key` or `q`, a page is looked for in at most 1,000 jobs that match the other filters.",
    "lists.limit": "`limit` | jobs per page, 1 to 100; default 20",
    "lists.cursor": "`cursor` | `next_cursor` of the previous page",
    "lists.response": "The response has `data` (array of jobs) and `next_cursor` (string, or `null` on the last page)."
  },
  "event-streams": {
    "event-streams.stream":
      "one `generation` event with the current state, then one for each change, with the [job](#the-job-object) as data",
    "event-streams.ends": "The stream ends after the final state.",
    "event-streams.retry": "ends after the first event and `retry: 5000`",
    "event-streams.over": "A request whose `Last-Event-ID` names the final state returns 204",
    "event-streams.counts": "A stream counts as a [waiting request](#waiting)."
  }
} as const
