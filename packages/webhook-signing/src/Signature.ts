/**
 * The signature of a webhook: `t=<unix seconds>,v1=<hex>`, where `v1` is the lowercase
 * hex of HMAC-SHA256 over `<t>.` and the raw bytes of the body, keyed with the whole
 * secret, prefix included (section "Signature").
 */

/** Signs bodies with one secret. The key is imported once. */
export interface Signer {
  /** The hex of one `v1`. */
  readonly sign: (timestamp: number, body: Uint8Array) => Promise<string>
}

/** The header's value for these signatures, each of them good for itself. */
export const format = (timestamp: number, signatures: ReadonlyArray<string>): string =>
  [`t=${timestamp}`, ...signatures.map((hex) => `v1=${hex}`)].join(",")
