/** Refused requests, and responses to them with problem bodies (RFC 9457). */

/**
 * A refused request.
 *
 * - `missing`, `invalid`: it has no key although it must, or the key is not 1 to 255 characters of printable ASCII (400).
 * - `in_progress`: a request with the key is running (409).
 * - `reused`: the key belongs to a request with another method, path or body (422).
 * - `unavailable`: the request has run, and its response was too large to be stored (410).
 * - `too_large`: the body is larger than the middleware of Hono reads (413).
 * - `storage`: the database failed (503).
 */
export interface Refusal {
  readonly reason: "missing" | "invalid" | "in_progress" | "reused" | "unavailable" | "too_large" | "storage"
  /** The error of the database. */
  readonly error?: unknown
}

/** A response that is sent in place of that of the handler. */
export interface Reply {
  readonly status: number
  /** Names are lower-case. A later value replaces an earlier one, except for `set-cookie`. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: string | Uint8Array
}

/** The response to a refused request. */
export const replyTo = ({ reason }: Refusal): Reply => {
  const { detail, status, title } = problems[reason]
  return {
    status,
    headers: [
      ["content-type", "application/problem+json"],
      ...(reason === "in_progress" ? [["retry-after", "1"] as const] : [])
    ],
    body: JSON.stringify({ type: "about:blank", title, status, detail })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const problems: Readonly<Record<Refusal["reason"], { status: number; title: string; detail: string }>> = {
  missing: {
    status: 400,
    title: "Idempotency-Key is missing",
    detail: "This request needs the header Idempotency-Key."
  },
  invalid: {
    status: 400,
    title: "Idempotency-Key is invalid",
    detail: "The header Idempotency-Key must have 1 to 255 characters of printable ASCII."
  },
  in_progress: {
    status: 409,
    title: "A request is outstanding for this Idempotency-Key",
    detail: "A request with this key is running. Send the request again later."
  },
  reused: {
    status: 422,
    title: "Idempotency-Key is already used",
    detail: "The key belongs to a request with another method, path or body."
  },
  unavailable: {
    status: 410,
    title: "Response is unavailable",
    detail: "The request with this key has run. Its response was not stored."
  },
  too_large: {
    status: 413,
    title: "Content Too Large",
    detail: "The body of a request with an Idempotency-Key is too large."
  },
  storage: {
    status: 503,
    title: "Service Unavailable",
    detail: "The Idempotency-Key cannot be checked now."
  }
}
