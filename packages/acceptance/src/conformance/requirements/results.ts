/** Statements of `docs/reference/http-api.md` about results and the image endpoint, by section. */
export const results = {
  "results": {
    "results.content": "`GET /v1/generations/{id}/content` returns the result.",
    "results.pair": "a [signed pair](#signed-urls); taken from `output.url`",
    "results.download": "`1` sends `Content-Disposition: attachment`",
    "results.notReady": "the job is not final | 409 `result_not_ready`",
    "results.notFound": "the job failed or was cancelled, or has no such file | 404 `result_not_found`",
    "results.expired": "the download window is over | 410 `result_expired`",
    "results.unknown": "unknown job, or a job of another account | 404 `not_found`",
    "results.window": "The download window is `results.api_ttl_hours` (24 by default)",
    "results.row": "The job remains readable.",
    "results.whole": "200 with the whole file",
    "results.range": "or 206 with `Content-Range` for a request with one byte range",
    "results.several": "A request with several ranges returns 200 with the whole file.",
    "results.unsatisfiable":
      "A range outside of the file returns 416 `range_not_satisfiable` with `Content-Range: bytes */<size>`.",
    "results.validators": "`Accept-Ranges: bytes`, a strong `ETag` and `Last-Modified`.",
    "results.notModified": "return 304",
    "results.ifMatch": "`If-Match` without the current `ETag`",
    "results.ifUnmodified": "`If-Unmodified-Since` with an earlier date, returns 412 `precondition_failed`",
    "results.ifRange": "`If-Range` is supported",
    "results.disposition":
      "`Content-Disposition` is `inline`, or `attachment` with `download=1`, with the file name `<id>.<ext>`",
    "results.cache": "`Cache-Control: private, max-age=<seconds until the window ends>`",
    "results.embedding":
      "`X-Content-Type-Options: nosniff`, `Cross-Origin-Resource-Policy: cross-origin`, `Access-Control-Allow-Origin: *`",
    "results.scripts": "of every origin can download files, with ranges and conditional requests.",
    "results.scriptErrors": "Errors carry `Access-Control-Allow-Origin: *` too.",
    "results.head":
      "`HEAD` runs the same checks and returns the same headers, with `Content-Length` of the whole file and no body.",
    "results.files": "`preview`, `thumb` and `poster` in place of `content` return the smaller pictures."
  },
  "download-limits": {
    "download-limits.defaults":
      "An account can have 8 downloads of results and 200 of smaller pictures at a time, download 50 GiB per UTC day, and download each result 10 times its size per UTC day",
    "download-limits.streams": "Exceeding a limit returns 429 `download_limited` with `details.scope` `streams`",
    "download-limits.bytes": "`bytes` or `downloads`",
    "download-limits.downloads": "or `downloads`",
    "download-limits.sent": "Bytes count as they are sent.",
    "download-limits.fits": "A request is rejected if what it asks for no longer fits the day.",
    "download-limits.head": "`HEAD` is checked like `GET` and counts nothing.",
    "download-limits.files":
      "Smaller pictures (`preview`, `thumb`, `poster`) count towards the bytes of the account, not towards the downloads of the result, and take no places of results."
  },
  "signed-urls": {
    "signed-urls.without": "They need no API key",
    "signed-urls.binds": "over a text that contains the path and `exp`",
    "signed-urls.keys": "If several keys are configured, the first signs and all verify.",
    "signed-urls.wrong": "A wrong signature returns 401 `invalid_signature` and counts as a failed authentication.",
    "signed-urls.gone": "After `exp`: 410 `result_expired` if the download window is over",
    "signed-urls.expired": "Otherwise 403 `signature_expired`",
    "signed-urls.half": "Only one of `exp` and `sig`: 400 `invalid_params`.",
    "signed-urls.both": "A request can carry an API key and a signed pair. One valid credential is enough."
  },
  "image-endpoint": {
    "image-endpoint.clients":
      "It accepts the requests of OpenAI-style client libraries when their base URL is `{base_url}/v1`.",
    "image-endpoint.only":
      "Only `generations` with one image per request exists; there are no edits and no variations.",
    "image-endpoint.xPlan": "`X-Plan` (optional; same meaning as `plan`)",
    "image-endpoint.model": "`model` | string | yes | id of an image model",
    "image-endpoint.prompt": "`prompt` | string | yes",
    "image-endpoint.n": "`n` | integer or null | no | must be 1",
    "image-endpoint.plan": "`plan` | string or null | no | `studio` or `credits`",
    "image-endpoint.quality": "`hd` selects the resolution `2k` if the model has it; other values are ignored",
    "image-endpoint.format": "`response_format` | string or null | no | `url` or `b64_json`.",
    "image-endpoint.b64": "The default is `url`, unless the operator configured the model otherwise",
    "image-endpoint.size": "`auto` or `<W>x<H>`, mapped to the model's nearest aspect ratio",
    "image-endpoint.auto": "`auto` and no value select its default",
    "image-endpoint.user": "`user` | string or null | no | ignored",
    "image-endpoint.outputFormat": "`output_format` | string or null | no | must be the format of the model",
    "image-endpoint.stream": "`stream` | boolean or null | no | must not be `true`",
    "image-endpoint.null": "`null` counts as absent in every field.",
    "image-endpoint.conflict": "`plan` and `X-Plan` differ | 400 `plan_conflict`",
    "image-endpoint.required": "neither is given and the model is included in Studio | 400 `plan_required`",
    "image-endpoint.video": "the model makes videos | 400 `model_kind_mismatch`",
    "image-endpoint.invalid":
      "an invalid `n`, `plan`, `X-Plan`, `size`, `response_format`, `output_format` or `stream` | 400 `invalid_params`",
    "image-endpoint.creditsModel":
      "Without `plan` and `X-Plan`, a model that is not included in Studio uses `credits`.",
    "image-endpoint.response": "200 returns `created` (Unix time) and `data`, which always has one entry",
    "image-endpoint.url": "`url` (a [signed URL](#signed-urls), valid for the download window)",
    "image-endpoint.b64Field": "or `b64_json`. The content type is `application/json`.",
    "image-endpoint.counts":
      "A response with `b64_json` counts as one download of the result, not towards the bytes of the account",
    "image-endpoint.limited":
      "a replay beyond the [download limit](#download-limits) of the result returns 429 `download_limited` with `details.scope` `downloads`",
    "image-endpoint.first": "but the response to the request that created the job is always sent.",
    "image-endpoint.waits": "The request waits at most 50 seconds (configurable)",
    "image-endpoint.pending":
      "then returns 504 `generation_pending` with the job in `details.generation_id`, `Retry-After: 1` and `retry-after-ms: 1000`",
    "image-endpoint.again":
      "Each 504 therefore restarts the 120 seconds in which the same request is matched with the same job",
    "image-endpoint.reattach":
      "the retry waits for the same job, and a job of up to about 150 seconds is returned as an image by an unmodified client, charged once",
    "image-endpoint.failed":
      "A failed job returns 422 `generation_failed` or `content_rejected`, with `details.generation_id` and `details.reason`.",
    "image-endpoint.disconnect": "A client that disconnects does not cancel its job.",
    "image-endpoint.repeats": "Every field of the body takes part in the comparison of [idempotency](#idempotency)."
  }
} as const
