/** Why a webhook was not accepted. */

/**
 * What was wrong, for programs. What the sender answers for:
 *
 * - `missing_header`: there is no signature.
 * - `malformed_header`: the header is not `t=<unix seconds>,v1=<hex>`, or exceeds a limit.
 * - `no_match`: no signature was made with one of the secrets over these bytes.
 * - `expired`: it was signed too long ago.
 * - `malformed_event`: the signature is good, and the body is no event.
 * - `body_too_large`: the body exceeds `bodyBytesMax`.
 *
 * And what the receiver does:
 *
 * - `missing_body`: nothing was handed in to verify.
 * - `parsed_body`: something read or parsed the body before it could be verified.
 * - `no_secret`: no secret was handed in, such as from a variable that is not set.
 * - `secret_whitespace`: there is white space in a secret, such as a line break behind it.
 */
export type Reason =
  | "missing_header"
  | "malformed_header"
  | "no_match"
  | "expired"
  | "malformed_event"
  | "body_too_large"
  | "missing_body"
  | "parsed_body"
  | "no_secret"
  | "secret_whitespace"

/**
 * The webhook is not to be believed. The message says what to do about it. It holds no
 * secret, no signature and nothing of the body, so it can be logged, and answered with.
 */
export class VerificationError extends Error {
  override readonly name = "VerificationError"
  /** Tells the class where `instanceof` cannot, such as between two copies of this package. */
  readonly _tag = "VerificationError"
  /** See `Reason`. */
  readonly reason: Reason
  /**
   * The HTTP status to answer with: 400 or 413 where the sender is at fault, 500 where the
   * receiver is. Express and Fastify answer with it by themselves.
   */
  readonly status: 400 | 413 | 500

  constructor(reason: Reason, detail = "") {
    super([detail, advice[reason]].filter((part) => part !== "").join(" "))
    this.reason = reason
    this.status = statuses[reason] ?? 400
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const statuses: { readonly [_ in Reason]?: 413 | 500 } = {
  body_too_large: 413,
  missing_body: 500,
  parsed_body: 500,
  no_secret: 500,
  secret_whitespace: 500
}

const advice: Readonly<Record<Reason, string>> = {
  missing_header:
    "The request has no signature. If it came from the service, something on the way dropped the header, " +
    "or it has another name: see `headerName`.",
  malformed_header: "The signature header must be `t=<unix seconds>,v1=<hex>`, with one `t` and one or more `v1`. " +
    "If the request came from the service, something on the way changed the header.",
  no_match: "No signature matches. Is this the secret of this endpoint, whole and with its prefix, " +
    "and are these the bytes of the body as they arrived, before anything parsed, decoded or formatted them?",
  expired: "Verify when the request arrives, not when a queue comes to it, and keep this machine's clock in step " +
    "(NTP). Otherwise it is an old request that somebody sent again.",
  malformed_event: "The signature is good, but the body is not a JSON object with the texts `id`, `type` and " +
    "`created_at`, and `data`. `Signature.verify` verifies bodies of any other shape.",
  body_too_large: "Raise `bodyBytesMax` if the service sends bodies of this size.",
  missing_body: "There is no body to verify. Hand in the bytes or the text of the request as they arrived.",
  parsed_body: "Something read or parsed the body first, and only its raw bytes can be verified. " +
    "Express: mount the route before `express.json()`, or give the route `express.raw({ type: \"*/*\" })`. " +
    "Fastify: `addContentTypeParser(\"application/json\", { parseAs: \"buffer\" }, (_, body, done) => done(null, body))` " +
    "in a plugin of its own. Hono: hand in `c.req.raw` before anything calls `c.req.json()`. " +
    "Next: hand in the `Request` of the route handler before anything calls `json()`; " +
    "under `pages/api`, `export const config = { api: { bodyParser: false } }`. " +
    "NestJS: `NestFactory.create(AppModule, { rawBody: true })`.",
  no_secret: "There is no secret. Is the environment variable set that it comes from?",
  secret_whitespace: "There is white space in a secret, such as a line break behind it. " +
    "Set it again without: the secret is one word that starts with `whsec_`."
}
