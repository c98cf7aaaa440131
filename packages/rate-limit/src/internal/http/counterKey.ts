/** Keys of the counters of clients. */
import * as ClientAddress from "../../ClientAddress.ts"

/**
 * Returns the key of the counter of a client: by the key that the program returned, or else by its address. Both kinds
 * never match. A key that is long, or has other characters than printable ASCII, is replaced by its digest: keys can come
 * from clients, and the storage limits their length.
 */
export const counterKey = async (
  policy: string,
  key: string | undefined,
  address: string | null | undefined
): Promise<string> => {
  if (key === undefined) {
    if (address === null) throw new TypeError("This platform has no address of the client: pass a key to the limit")
    return `${policy}/address/${ClientAddress.group(address)}`
  }
  return plain.test(key) ? `${policy}/key/${key}` : `${policy}/digest/${await digestOf(key)}`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const plain = /^[\x20-\x7e]{0,128}$/

const digestOf = async (text: string): Promise<string> => {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")
}
