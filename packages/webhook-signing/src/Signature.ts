/**
 * The signature of a webhook: `t=<unix seconds>,v1=<hex>`, where `v1` is the lowercase
 * hex of HMAC-SHA256 over `<t>.` and the raw bytes of the body, keyed with the whole
 * secret, prefix included (section "Signature").
 */
import { nowMillis } from "./internal/Ambient.ts"
import * as body from "./internal/body.ts"
import type { HeadersLike } from "./internal/header.ts"
import * as hmac from "./internal/hmac.ts"
import * as verification from "./internal/verification.ts"

export type { HeadersLike } from "./internal/header.ts"
export type { Checked, VerifyOptions, Warning } from "./internal/verification.ts"

/** Signs bodies with one secret. The key is imported once. */
export interface Signer {
  /**
   * The hex of one `v1`. `timestamp` is in whole seconds since 1970; another number
   * rejects with a `RangeError`. A text is signed as UTF-8.
   */
  readonly sign: (timestamp: number, body: Uint8Array | string) => Promise<string>
}

/**
 * A signer for a secret. Make one per secret and share it: it holds the imported key
 * and not the text. An empty secret, or one with white space, rejects with a
 * `TypeError` that does not show it.
 */
export const makeSigner = async (secret: string): Promise<Signer> => {
  if (secret === "" || /\s/.test(secret)) throw new TypeError("A secret is a text without white space.")
  const key = await hmac.importKey(secret)
  return {
    sign: async (timestamp, body) => hmac.mac(key, hmac.message(checkedTimestamp(timestamp), body))
  }
}

/**
 * The header's value for these signatures, each of them good for itself: one per secret
 * that signs, newest first. Throws a `RangeError` for a timestamp that is none, or
 * without signatures.
 */
export const format = (timestamp: number, signatures: ReadonlyArray<string>): string => {
  if (signatures.length === 0) throw new RangeError("A header has at least one signature.")
  return [`t=${checkedTimestamp(timestamp)}`, ...signatures.map((hex) => `v1=${hex}`)].join(",")
}

/** What to sign, for `sign`. */
export interface SignOptions {
  /** The body as it is sent; a text is sent as UTF-8. */
  readonly body: Uint8Array | string
  /** The secret that signs; several while one takes over from another, newest first. */
  readonly secret: string | ReadonlyArray<string>
  /** Whole seconds since 1970. Default: now. */
  readonly timestamp?: number | undefined
}

/**
 * The header's value, all at once: for tests of receivers, and for those who send seldom.
 * It imports the key each time and rejects as `makeSigner` and `format` do.
 */
export const sign = async (options: SignOptions): Promise<string> => {
  const timestamp = options.timestamp ?? Math.floor(nowMillis() / 1000)
  const signatures = [options.secret].flat().map(async (secret) =>
    (await makeSigner(secret)).sign(timestamp, options.body)
  )
  return format(timestamp, await Promise.all(signatures))
}

/** The raw bytes of a request's body, or its text when that is all there is. */
export type RawBody = Uint8Array | ArrayBuffer | string

/** What to verify, for `verify`. */
export interface SignedRequest extends verification.VerifyOptions {
  /** As it arrived: before anything parsed it. */
  readonly body: RawBody
  readonly headers: HeadersLike
}

/**
 * Whether one of the secrets signed this body, not longer than `toleranceSeconds` ago,
 * whatever the body is; `Webhook.verify` reads the event in it too. Rejects with a
 * `VerificationError`, and with a `RangeError` where `toleranceSeconds` or `nowMillis` is no
 * number that it can be.
 */
export const verify = async (request: SignedRequest): Promise<verification.Checked> => {
  const pending = verification.begin(request.headers, request)
  return verification.complete(pending, body.expectRaw(request.body))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The year 5138. Milliseconds taken for seconds are beyond it. */
const timestampMax = 99_999_999_999

const checkedTimestamp = (timestamp: number): number => {
  if (Number.isInteger(timestamp) && timestamp >= 0 && timestamp <= timestampMax) return timestamp
  throw new RangeError("A timestamp is a whole number of seconds since 1970, not of milliseconds.")
}
