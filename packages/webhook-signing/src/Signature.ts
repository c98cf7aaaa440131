/**
 * Signatures of webhooks: `t=<unix seconds>,v1=<hex>`, where `v1` is the lower-case hex of
 * HMAC-SHA256 over `<t>.` and the raw bytes of the body. The key is the whole secret, including
 * its prefix.
 */
import { checkedTimestamp, nowMillis } from "./internal/Ambient.ts"
import * as body from "./internal/body.ts"
import type { HeadersLike } from "./internal/header.ts"
import * as hmac from "./internal/hmac.ts"
import * as verification from "./internal/verification.ts"

export type { HeadersLike } from "./internal/header.ts"
export type { Checked, VerifyOptions, Warning } from "./internal/verification.ts"

/** A signer with an imported key. */
export interface Signer {
  /**
   * Signs a body and returns the hex of one `v1`. A text is signed as UTF-8. `timestamp` is in
   * whole seconds since 1970. Rejects with a `RangeError` for any other number.
   */
  readonly sign: (timestamp: number, body: Uint8Array | string) => Promise<string>
}

/**
 * Creates a signer for a secret. It imports the key once and does not retain the text, so create
 * one per secret and reuse it. Rejects with a `TypeError` if the secret is empty or contains
 * white space. The error does not contain the secret.
 */
export const makeSigner = async (secret: string): Promise<Signer> => {
  if (secret === "" || /\s/.test(secret)) throw new TypeError("A secret must not be empty or contain white space.")
  const key = await hmac.importKey(secret)
  return {
    sign: async (timestamp, body) => hmac.mac(key, hmac.message(checkedTimestamp(timestamp), body))
  }
}

/**
 * Formats the value of the header from one signature per active secret, newest first. Throws a
 * `RangeError` if the timestamp is invalid or there is no signature.
 */
export const format = (timestamp: number, signatures: ReadonlyArray<string>): string => {
  if (signatures.length === 0) throw new RangeError("A header must have at least one signature.")
  return [`t=${checkedTimestamp(timestamp)}`, ...signatures.map((hex) => `v1=${hex}`)].join(",")
}

/** Options for `sign`. */
export interface SignOptions {
  /** The body that is sent. A text is signed as UTF-8. */
  readonly body: Uint8Array | string
  /** The secret, or all active secrets during a rotation, newest first. */
  readonly secret: string | ReadonlyArray<string>
  /** Whole seconds since 1970. Default: now. */
  readonly timestamp?: number | undefined
}

/**
 * Signs a body and returns the value of the header, for tests of receivers and occasional sends.
 * Imports the key on each call. Rejects like `makeSigner` and `format`.
 */
export const sign = async (options: SignOptions): Promise<string> => {
  const timestamp = options.timestamp ?? Math.floor(nowMillis() / 1000)
  const signatures = [options.secret].flat().map(async (secret) =>
    (await makeSigner(secret)).sign(timestamp, options.body)
  )
  return format(timestamp, await Promise.all(signatures))
}

/** The raw bytes of a request's body, or its text. */
export type RawBody = Uint8Array | ArrayBuffer | string

/** A request to verify. */
export interface SignedRequest extends verification.VerifyOptions {
  /** The body as received, before any parser. */
  readonly body: RawBody
  readonly headers: HeadersLike
}

/**
 * Verifies that one of the secrets signed the body at most `toleranceSeconds` ago. The body may
 * have any shape; `Webhook.verify` also parses an event. Rejects with a `VerificationError`, or
 * with a `RangeError` if `toleranceSeconds` or `nowMillis` is invalid.
 */
export const verify = async (request: SignedRequest): Promise<verification.Checked> => {
  const pending = verification.begin(request.headers, request)
  return verification.complete(pending, body.expectRaw(request.body))
}
