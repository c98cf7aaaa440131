/** The error of a verification. */

/**
 * Reason of a `VerificationError`. Faults of the request:
 *
 * - `missing_header`: the request has no signature.
 * - `malformed_header`: a header is not in the format of the signature, or exceeds a limit.
 * - `no_match`: none of the secrets signed these bytes.
 * - `expired`: the signature is too old.
 * - `not_yet_valid`: the signature is of the future (Standard Webhooks only).
 * - `malformed_event`: the signature is valid, but the body is not an event.
 * - `body_too_large`: the body exceeds `bodyBytesMax`.
 *
 * Faults of the receiver:
 *
 * - `missing_body`: no body was passed.
 * - `parsed_body`: the body was read or parsed before the verification.
 * - `no_secret`: no secret was passed, for example because a variable is not set.
 * - `secret_whitespace`: a secret contains white space, for example a trailing line break.
 * - `malformed_secret`: a secret is not Base64 (Standard Webhooks only).
 */
export type Reason =
  | "missing_header"
  | "malformed_header"
  | "no_match"
  | "expired"
  | "not_yet_valid"
  | "malformed_event"
  | "body_too_large"
  | "missing_body"
  | "parsed_body"
  | "no_secret"
  | "secret_whitespace"
  | "malformed_secret"

/**
 * The verification failed. The message explains how to fix it. It contains no secret, signature or
 * part of the body, so it may be logged and returned in a response.
 */
export class VerificationError extends Error {
  override readonly name = "VerificationError"
  /** Identifies the class if `instanceof` cannot, for example across two copies of this package. */
  readonly _tag = "VerificationError"
  /** The reason; see `Reason`. */
  readonly reason: Reason
  /**
   * HTTP status for the response: 400 or 413 for a fault of the request, 500 for a fault of the
   * receiver. Express and Fastify use it by default.
   */
  readonly status: 400 | 413 | 500

  constructor(reason: Reason, detail = "") {
    super([detail, advice[reason]].filter((part) => part !== "").join(" "))
    this.reason = reason
    this.status = statuses[reason] ?? 400
  }
}

/** Returns the HTTP status for an error: that of a `VerificationError`, or 500, so that the sender retries. */
export const statusOf = (error: unknown): number => error instanceof VerificationError ? error.status : 500

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const statuses: { readonly [_ in Reason]?: 413 | 500 } = {
  body_too_large: 413,
  missing_body: 500,
  parsed_body: 500,
  no_secret: 500,
  secret_whitespace: 500,
  malformed_secret: 500
}

/** Advice for every scheme. `""`: the detail has it. */
const advice: Readonly<Record<Reason, string>> = {
  missing_header: "The request has no signature. If the service sent it, a proxy removed the header, or the header " +
    "has another name: see `headerName`.",
  malformed_header: "If the service sent the request, a proxy changed the header.",
  no_match: "No signature matches. Is this the secret of this endpoint, complete and with its prefix, " +
    "and are these the bytes of the body as received, before any parsing, decoding or formatting?",
  expired: "Verify when the request arrives, not later from a queue, and synchronize this machine's clock (NTP). " +
    "Otherwise it is an old request that was replayed.",
  not_yet_valid: "",
  malformed_event: "",
  body_too_large: "Raise `bodyBytesMax` if the service sends bodies of this size.",
  missing_body: "There is no body to verify. Pass the bytes or the text of the request as received.",
  parsed_body: "The body was read or parsed before, and only its raw bytes can be verified. " +
    "Express: mount the route before `express.json()`, or give the route `express.raw({ type: \"*/*\" })`. " +
    "Fastify: `addContentTypeParser(\"application/json\", { parseAs: \"buffer\" }, (_, body, done) => done(null, body))` " +
    "in a plugin of its own. Hono: pass `c.req.raw` before any call of `c.req.json()`. " +
    "Next: pass the `Request` of the route handler before any call of `json()`; " +
    "under `pages/api`, `export const config = { api: { bodyParser: false } }`. " +
    "NestJS: `NestFactory.create(AppModule, { rawBody: true })`.",
  no_secret: "There is no secret. Is its environment variable set?",
  secret_whitespace: "A secret contains white space, for example a trailing line break. " +
    "Set it again without: a secret is one word that starts with `whsec_`.",
  malformed_secret: ""
}
