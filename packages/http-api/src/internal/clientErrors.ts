/** Error codes that clients receive. The order is the order in the documentation. */
import { Schema } from "effect"
import { Status } from "../Generation.ts"
import { KeyScope } from "../RequestPolicy.ts"
import {
  bodyIssues,
  type ErrorDefinition,
  failedGeneration,
  imageIndex,
  issues,
  model,
  rejectedContent
} from "./ErrorDefinition.ts"
import { field, int, text, time } from "./fields.ts"

const jobStatus = { status: field(Status, "The status of the job.") }

/** The codes of `/v1`. A code is never given another status. */
export const clientErrors = {
  invalid_request: {
    status: 400,
    message: "The request body is not valid; see details.issues.",
    details: bodyIssues
  },
  invalid_params: {
    status: 400,
    message: "The parameters are not valid; see details.issues.",
    details: issues
  },
  invalid_image: {
    status: 400,
    message: "The image cannot be read; send a complete PNG, JPEG or WebP file.",
    details: imageIndex
  },
  invalid_idempotency_key: {
    status: 400,
    message: "Idempotency-Key must be 1 to 255 printable ASCII characters."
  },
  invalid_range: {
    status: 400,
    message: "The range of days is not valid; set from and to as YYYY-MM-DD, at most 31 days apart."
  },
  plan_required: {
    status: 400,
    message: "The request names no plan group; set plan to studio or credits.",
    details: model
  },
  plan_conflict: {
    status: 400,
    message: "plan and X-Plan name different groups; send only one of them."
  },
  model_not_in_plan: {
    status: 400,
    message: "The chosen plan does not include this model; choose another model or the other plan.",
    plan: "always",
    details: model
  },
  model_kind_mismatch: {
    status: 400,
    message: "This endpoint creates images only; create videos with POST /v1/generations.",
    details: model
  },
  unauthorized: {
    status: 401,
    message: "A valid API key is required; send the header Authorization: Bearer <key>."
  },
  invalid_signature: {
    status: 401,
    message: "The signature of this URL is not valid; get the job again for a new URL."
  },
  key_expired: {
    status: 401,
    message: "The API key has expired; use another key.",
    details: { expired_at: time("When the key expired.") }
  },
  plan_inactive: {
    status: 402,
    message: "The account has no active plan in this group; activate one or choose the other plan.",
    plan: "always"
  },
  quota_exceeded: {
    status: 402,
    message: "The daily quota of the plan is used up; wait until details.resets_at or choose the other plan.",
    plan: "always",
    details: {
      quota_kind: text("The quota that is used up: image or video."),
      resets_at: time("When the quota is available again: the next 00:00 UTC.")
    }
  },
  insufficient_credits: {
    status: 402,
    message: "The account does not have enough credits for this job; add credits or choose the other plan.",
    plan: "always",
    details: {
      required: int("The price of the job in credits."),
      available: int("The credits that the account can spend on this job.")
    }
  },
  signature_expired: {
    status: 403,
    message: "This URL has expired; get the job again for a new URL."
  },
  account_suspended: {
    status: 403,
    message: "The account is suspended; contact the operator of this service."
  },
  scope_missing: {
    status: 403,
    message: "The API key does not allow this request; use a key with the scope in details.scope.",
    details: { scope: field(KeyScope, "The scope that the request needs.") }
  },
  model_not_allowed: {
    status: 403,
    message: "The API key does not allow this model; use another key or another model.",
    details: model
  },
  address_not_allowed: {
    status: 403,
    message: "The API key cannot be used from the address of this client; use it from one of its networks."
  },
  not_found: {
    status: 404,
    message: "There is nothing with this id; check the id and the path."
  },
  model_not_found: {
    status: 404,
    message: "There is no model with this id; list the models with GET /v1/models.",
    details: model
  },
  upload_not_found: {
    status: 404,
    message: "The account has no such upload, or the upload has expired; upload the image again.",
    details: imageIndex
  },
  result_not_found: {
    status: 404,
    message: "The job has no such file.",
    details: jobStatus
  },
  method_not_allowed: {
    status: 405,
    message: "This path does not support the method; the Allow header lists the supported methods."
  },
  request_timeout: {
    status: 408,
    message: "The request body arrives too slowly; send it again over a faster connection.",
    retry: "later"
  },
  not_cancellable: {
    status: 409,
    message: "The job cannot be cancelled because it has already started or ended.",
    plan: "always",
    details: jobStatus
  },
  result_not_ready: {
    status: 409,
    message: "The job has not completed; poll it until its status is completed.",
    details: jobStatus,
    retry: "later"
  },
  idempotency_in_progress: {
    status: 409,
    message: "The first request with this Idempotency-Key is still in progress; retry shortly.",
    retry: "after",
    waitMillis: 1000
  },
  result_expired: {
    status: 410,
    message: "The result has expired and was deleted; create the job again.",
    details: { expired_at: time("When the result expired.") }
  },
  precondition_failed: {
    status: 412,
    message: "The file is not the one that If-Match or If-Unmodified-Since names; download it as a whole."
  },
  payload_too_large: {
    status: 413,
    message: "The request body is too large."
  },
  unsupported_media_type: {
    status: 415,
    message: "The request body must be JSON; send the header Content-Type: application/json."
  },
  range_not_satisfiable: {
    status: 416,
    message: "The range begins after the end of the file; Content-Range gives the size of the file.",
    details: { bytes: int("The size of the file in bytes.") }
  },
  idempotency_key_reused: {
    status: 422,
    message: "This Idempotency-Key was used for a different request; use a new key."
  },
  generation_failed: {
    status: 422,
    message: "The job failed and was refunded.",
    plan: "always",
    details: failedGeneration
  },
  content_rejected: {
    status: 422,
    message: "The content was rejected, and nothing is charged; change the prompt or the images.",
    plan: "always",
    details: rejectedContent
  },
  rate_limited: {
    status: 429,
    message: "Too many requests; retry after the time in Retry-After.",
    plan: "sometimes",
    details: {
      scope: field(
        Schema.Literals(["key", "plan", "auth", "uploads"]),
        "The limit: requests of the API key or of the session, creations of the plan group, failed authentications of the address, " +
          "or uploads and pixels of input images of the account."
      )
    },
    retry: "after"
  },
  key_budget_exceeded: {
    status: 429,
    message: "The job would exceed the budget of the API key; wait until details.resets_at or use another key.",
    plan: "always",
    details: {
      budget: field(
        Schema.Literals(["credits_per_day", "credits_per_month", "jobs_per_day", "jobs_per_month"]),
        "The limit that the job would exceed."
      ),
      limit: int("The limit."),
      used: int("The credits or jobs of the day or month that are used."),
      required: int("The price of the job in credits, or 1 job."),
      resets_at: time("When the day or month ends: a 00:00 UTC.")
    },
    retry: "after"
  },
  queue_full: {
    status: 429,
    message: "The queue of the account is full; retry after a job has started.",
    plan: "always",
    details: { waiting_max: int("How many jobs of the account can wait.") },
    retry: "after",
    waitMillis: 5000
  },
  download_limited: {
    status: 429,
    message: "The download limit is reached; retry after the time in Retry-After.",
    details: {
      scope: field(
        Schema.Literals(["streams", "bytes", "downloads"]),
        "The limit: concurrent downloads of the account, its bytes per day, or downloads of this result per day."
      )
    },
    retry: "after"
  },
  internal_error: {
    status: 500,
    message: "Internal error; retry, and quote X-Request-Id if you report it.",
    retry: "later"
  },
  model_unavailable: {
    status: 503,
    message: "The model does not accept new jobs at the moment; retry later or choose another model.",
    details: model,
    retry: "after",
    waitMillis: 30_000
  },
  unavailable: {
    status: 503,
    message: "The service is temporarily unavailable; retry shortly.",
    details: {
      not_ready: Schema.optionalKey(Schema.Array(Schema.String)).annotateKey({
        description: "The parts of the service that are not ready. Present at `/readyz` only."
      })
    },
    retry: "after",
    waitMillis: 1000
  },
  generation_pending: {
    status: 504,
    message: "The image is not ready yet; send the same request again, or poll GET /v1/generations/{id} " +
      "with details.generation_id.",
    details: { generation_id: text("The id of the job.") },
    retry: "after",
    waitMillis: 1000
  }
} as const satisfies Readonly<Record<string, ErrorDefinition>>
