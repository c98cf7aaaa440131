/**
 * The signature of a webhook: `t=<unix seconds>,v1=<hex>`, where `v1` is the lowercase
 * hex of HMAC-SHA256 over `<t>.` and the raw bytes of the body, keyed with the whole
 * secret, prefix included (section "Signature").
 */
import * as hmac from "./internal/hmac.ts"

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

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const checkedTimestamp = (timestamp: number): number => {
  if (Number.isSafeInteger(timestamp) && timestamp >= 0) return timestamp
  throw new RangeError("A timestamp is a whole number of seconds since 1970.")
}
