/** Every error code with its status and what it says when nothing more exact is known (D40). */

/** What a code stands for. */
export interface ErrorCodeEntry {
  readonly status: number
  /** What was wrong and what to do (D41). */
  readonly message: string
  /** Whether the same request can succeed later, so that a client should try again by itself. */
  readonly retryable: boolean
}

/** The table of codes. A code is never given another status. */
export const table = {
  invalid_request: {
    status: 400,
    message: "The request body is not valid; details.issues lists every problem.",
    retryable: false
  },
  invalid_params: {
    status: 400,
    message: "The parameters are not valid; details.issues lists every problem.",
    retryable: false
  },
  invalid_image: {
    status: 400,
    message: "An input image cannot be used; details.index says which.",
    retryable: false
  },
  invalid_idempotency_key: {
    status: 400,
    message: "Idempotency-Key must be 1 to 255 printable ASCII characters.",
    retryable: false
  },
  invalid_range: {
    status: 400,
    message: "The range of days is not valid; give from and to as YYYY-MM-DD, at most 31 days.",
    retryable: false
  },
  plan_required: {
    status: 400,
    message: "Choose the group to charge: set plan to studio or credits.",
    retryable: false
  },
  plan_conflict: {
    status: 400,
    message: "plan and X-Plan name different groups; send one of them, or the same in both.",
    retryable: false
  },
  model_not_in_plan: {
    status: 400,
    message: "The model is not part of the chosen plan; choose another model or the other plan.",
    retryable: false
  },
  model_kind_mismatch: {
    status: 400,
    message: "This endpoint makes images; create a video with POST /v1/generations.",
    retryable: false
  },
  unauthorized: {
    status: 401,
    message: "A valid API key is required: send it as Authorization: Bearer <key>.",
    retryable: false
  },
  invalid_signature: {
    status: 401,
    message: "The signature of this URL is not valid; fetch the job again for a fresh URL.",
    retryable: false
  },
  plan_inactive: {
    status: 402,
    message: "The account has no active plan of this group; activate one or choose the other plan.",
    retryable: false
  },
  quota_exceeded: {
    status: 402,
    message: "The daily quota of this plan is used up; wait for details.resets_at or choose the other plan.",
    retryable: false
  },
  insufficient_credits: {
    status: 402,
    message: "The credits do not cover the price; add credits or choose the other plan.",
    retryable: false
  },
  signature_expired: {
    status: 403,
    message: "This URL has expired; fetch the job again for a fresh URL.",
    retryable: false
  },
  account_suspended: {
    status: 403,
    message: "The account is suspended; contact the operator of this service.",
    retryable: false
  },
  not_found: {
    status: 404,
    message: "There is nothing at this address for this account; check the id and the path.",
    retryable: false
  },
  model_not_found: {
    status: 404,
    message: "No model of this id is on sale; GET /v1/models lists them.",
    retryable: false
  },
  upload_not_found: {
    status: 404,
    message: "The account has no such upload, or it has expired; upload the image again.",
    retryable: false
  },
  result_not_found: {
    status: 404,
    message: "The job has no such result.",
    retryable: false
  },
  method_not_allowed: {
    status: 405,
    message: "The method is not allowed here; the Allow header lists those that are.",
    retryable: false
  },
  not_cancellable: {
    status: 409,
    message: "The job has already started or is over, so it cannot be cancelled.",
    retryable: false
  },
  result_not_ready: {
    status: 409,
    message: "The job is not finished; poll it until its status is completed.",
    retryable: true
  },
  idempotency_in_progress: {
    status: 409,
    message: "The first request with this Idempotency-Key is still being decided; try again shortly.",
    retryable: true
  },
  result_expired: {
    status: 410,
    message: "The download window of this result is over; create the job again.",
    retryable: false
  },
  payload_too_large: {
    status: 413,
    message: "The request body is too large.",
    retryable: false
  },
  unsupported_media_type: {
    status: 415,
    message: "The request body must be JSON: send Content-Type: application/json.",
    retryable: false
  },
  range_not_satisfiable: {
    status: 416,
    message: "The range is outside of the result; Content-Range tells its size.",
    retryable: false
  },
  idempotency_key_reused: {
    status: 422,
    message: "This Idempotency-Key was used for a different request; use a new key.",
    retryable: false
  },
  generation_failed: {
    status: 422,
    message: "The job failed and was refunded.",
    retryable: false
  },
  content_rejected: {
    status: 422,
    message: "The model refused this content and the job was refunded; change the prompt or the images.",
    retryable: false
  },
  rate_limited: {
    status: 429,
    message: "Too many requests; wait as long as Retry-After says.",
    retryable: true
  },
  queue_full: {
    status: 429,
    message: "Too many jobs of this account wait already; try again once one of them has started.",
    retryable: true
  },
  download_limited: {
    status: 429,
    message: "The download limit is reached; wait as long as Retry-After says.",
    retryable: true
  },
  internal_error: {
    status: 500,
    message: "Something went wrong on our side; quote X-Request-Id when you report it.",
    retryable: true
  },
  model_unavailable: {
    status: 503,
    message: "The model takes no new jobs at the moment; try again later or choose another model.",
    retryable: true
  },
  unavailable: {
    status: 503,
    message: "The service is not available at the moment; try again shortly.",
    retryable: true
  },
  generation_pending: {
    status: 504,
    message: "The image is not ready yet; poll GET /v1/generations/{id} with details.generation_id.",
    retryable: true
  }
} as const satisfies Readonly<Record<string, ErrorCodeEntry>>

/** A machine-readable error code. */
export type ErrorCode = keyof typeof table

/** The codes that are answered with this status. */
export type CodeOf<Status extends number> = {
  [Code in ErrorCode]: (typeof table)[Code]["status"] extends Status ? Code : never
}[ErrorCode]

/** See the type of the same name. In the order of the table. */
export const codesOf = <const Status extends (typeof table)[ErrorCode]["status"]>(
  status: Status
): ReadonlyArray<CodeOf<Status>> =>
  (Object.keys(table) as Array<ErrorCode>).filter((code): code is CodeOf<Status> => table[code].status === status)
