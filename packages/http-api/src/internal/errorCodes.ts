/** Codes that several endpoints share. */

/** Of endpoints that read JSON. */
export const bodyErrors = ["payload_too_large", "request_timeout", "unsupported_media_type"] as const

/** Of endpoints that create jobs. */
export const creationErrors = [
  ...bodyErrors,
  "invalid_params",
  "invalid_image",
  "model_not_in_plan",
  "plan_inactive",
  "quota_exceeded",
  "insufficient_credits",
  "model_not_allowed",
  "model_not_found",
  "upload_not_found",
  "idempotency_in_progress",
  "idempotency_key_reused",
  "key_budget_exceeded",
  "queue_full",
  "model_unavailable",
  "content_rejected"
] as const

/** Of requests and responses that do not fit the schemas of an endpoint. */
export const schemaErrors = [
  "invalid_request",
  "invalid_params",
  "invalid_idempotency_key",
  "internal_error"
] as const

/** Of requests with a session, the limits of which depend on its owner. */
const sessionErrors = [
  "session_not_allowed",
  "view_only",
  "scope_missing",
  "address_not_allowed",
  "rate_limited",
  "unavailable"
] as const

/** Of each kind of authentication. */
export const authenticationErrors = {
  none: [],
  key: [
    "unauthorized",
    "key_expired",
    "account_suspended",
    "scope_missing",
    "address_not_allowed",
    "rate_limited",
    "unavailable"
  ],
  link: [
    "invalid_params",
    "unauthorized",
    "invalid_signature",
    "key_expired",
    "signature_expired",
    "account_suspended",
    "scope_missing",
    "address_not_allowed",
    "rate_limited",
    "unavailable"
  ],
  operator: ["unauthorized", "rate_limited", "unavailable"],
  session: ["unauthorized", ...sessionErrors],
  keyOrSession: [
    "unauthorized",
    "key_expired",
    "account_suspended",
    ...sessionErrors
  ],
  credential: [
    "invalid_code",
    "no_account",
    "unauthorized",
    "key_expired",
    "account_suspended",
    "address_not_allowed",
    "rate_limited",
    "unavailable"
  ]
} as const
