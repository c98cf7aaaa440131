/**
 * Webhooks in the format of Standard Webhooks (https://www.standardwebhooks.com): the headers `webhook-id`,
 * `webhook-timestamp` and `webhook-signature: v1,<base64>`, where `v1` is the Base64 of HMAC-SHA256 over `<id>.<t>.` and
 * the raw bytes of the body. The key is what the Base64 after `whsec_` encodes. The header has one `v1` per active secret,
 * separated by spaces.
 *
 * Every secret of `Secret.generate` is a valid secret of both formats.
 */
import { checkedTimestamp, nowMillis } from "./internal/Ambient.ts"
import * as body from "./internal/body.ts"
import type { HeadersLike } from "./internal/header.ts"
import * as hmac from "./internal/hmac.ts"
import * as message from "./internal/standardMessage.ts"
import type { RawBody } from "./Signature.ts"
import { VerificationError } from "./VerificationError.ts"

export type { RequestLike } from "./internal/body.ts"
export type { HeadersLike } from "./internal/header.ts"
export type { Checked, VerifyOptions } from "./internal/standardMessage.ts"
export type { RawBody } from "./Signature.ts"
export { type Reason, statusOf, VerificationError } from "./VerificationError.ts"

/** The headers of a signed request. A type, because an interface could not be passed where any headers are accepted. */
export type StandardHeaders = {
  readonly "webhook-id": string
  readonly "webhook-timestamp": string
  readonly "webhook-signature": string
}

/** A signer with an imported key. */
export interface Signer {
  /**
   * Signs a body and returns one `v1,<base64>`. A text is signed as UTF-8. `timestamp` is in whole seconds since 1970.
   * Rejects with a `RangeError` if the timestamp or the id is invalid; see `headersOf`.
   */
  readonly sign: (id: string, timestamp: number, body: Uint8Array | string) => Promise<string>
}

/**
 * Creates a signer for a secret. It imports the key once and does not retain the text, so create one per secret and reuse
 * it. Rejects with a `TypeError` unless the secret is the Base64 of 24 to 64 bytes, with or without `whsec_`. The error
 * does not contain the secret.
 */
export const makeSigner = async (secret: string): Promise<Signer> => {
  const bytes = message.keyOf(secret)
  if (bytes === undefined || bytes.length < 24 || bytes.length > 64) {
    throw new TypeError("A secret must be `whsec_` and the Base64 of 24 to 64 bytes.")
  }
  const key = await hmac.importKey(bytes)
  return {
    sign: async (id, timestamp, text) =>
      message.sign(key, hmac.message(`${checkedId(id)}.${checkedTimestamp(timestamp)}`, text))
  }
}

/**
 * Returns the headers of a request from one signature per active secret, newest first. Throws a `RangeError` if there is no
 * signature, if the timestamp is invalid, or unless the id has 1 to 256 printable ASCII characters without space, `.` and `,`.
 */
export const headersOf = (id: string, timestamp: number, signatures: ReadonlyArray<string>): StandardHeaders => {
  if (signatures.length === 0) throw new RangeError("A request must have at least one signature.")
  return {
    "webhook-id": checkedId(id),
    "webhook-timestamp": String(checkedTimestamp(timestamp)),
    "webhook-signature": signatures.join(" ")
  }
}

/** Options for `sign`. */
export interface SignOptions {
  /** Id of the event for this receiver, which is the same in every send. */
  readonly id: string
  /** The body that is sent. A text is signed as UTF-8. */
  readonly body: Uint8Array | string
  /** The secret, or all active secrets during a rotation, newest first. */
  readonly secret: string | ReadonlyArray<string>
  /** Whole seconds since 1970. Default: now. */
  readonly timestamp?: number | undefined
}

/**
 * Signs a body and returns the headers, for tests of receivers and occasional sends. Imports the key on each call. Rejects
 * like `makeSigner` and `headersOf`.
 */
export const sign = async ({ body, id, secret, ...options }: SignOptions): Promise<StandardHeaders> => {
  const timestamp = options.timestamp ?? Math.floor(nowMillis() / 1000)
  const signatures = [secret].flat().map(async (secret) => (await makeSigner(secret)).sign(id, timestamp, body))
  return headersOf(id, timestamp, await Promise.all(signatures))
}

/** A request to verify. */
export interface SignedRequest extends message.VerifyOptions {
  /** The body as received, before any parser. */
  readonly body: RawBody
  readonly headers: HeadersLike
}

/**
 * Verifies that one of the secrets signed the body, at most `toleranceSeconds` ago or ahead. The body may have any shape.
 * Rejects with a `VerificationError`, or with a `RangeError` if `toleranceSeconds` or `nowMillis` is invalid.
 */
export const verify = async (request: SignedRequest): Promise<message.Checked> =>
  message.complete(message.begin(request.headers, request), body.expectRaw(request.body))

/** A verified request. `Event` is the expected type, which is not checked. */
export interface Verified<Event = unknown> extends message.Checked {
  /** The body as JSON. */
  readonly event: Event
}

/** Options for `receive`. */
export interface ReceiveOptions extends message.VerifyOptions {
  /** Bytes of a body. Default 2 MiB. */
  readonly bodyBytesMax?: number | undefined
}

/**
 * Reads the raw body of a request, verifies it and parses it as JSON. Accepts a standard `Request` and the requests of Node,
 * Express, Fastify and others. Rejects a request without well-formed headers before it reads the body. Rejects with a
 * `VerificationError`, or with the error of the request if it is aborted.
 */
export const receive = async <Event = unknown>(
  request: body.RequestLike,
  options: ReceiveOptions
): Promise<Verified<Event>> => {
  const { bytes, checked } = await body.verified(request, {
    bytesMax: options.bodyBytesMax,
    begin: (headers) => message.begin(headers, options),
    complete: message.complete
  })
  const event = body.toJson(bytes)
  if (event !== undefined) return { ...checked, event: event as Event }
  throw new VerificationError(
    "malformed_event",
    "The signature is valid, but the body is not JSON. Use `verify` for other bodies."
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const checkedId = (id: string): string => {
  if (message.idPattern.test(id)) return id
  throw new RangeError("An id must have 1 to 256 printable ASCII characters without space, `.` and `,`.")
}
