/** HMAC-SHA256 with WebCrypto, which Node, browsers and edge runtimes share. */

/** A non-extractable key. */
export type Key = CryptoKey

/** Imports a key: bytes, or a text as UTF-8. */
export const importKey = (key: string | Uint8Array<ArrayBuffer>): Promise<Key> =>
  crypto.subtle.importKey("raw", typeof key === "string" ? encoder.encode(key) : key, algorithm, false, ["sign"])

/** Returns the signed message: the head (a timestamp, or an id and a timestamp), a dot, and the body, a text as UTF-8. */
export const message = (head: number | string, body: Uint8Array | string): Uint8Array<ArrayBuffer> => {
  if (typeof body === "string") return encoder.encode(`${head}.${body}`)
  const prefix = encoder.encode(`${head}.`)
  const bytes = new Uint8Array(prefix.length + body.length)
  bytes.set(prefix)
  bytes.set(body, prefix.length)
  return bytes
}

/** Returns the bytes of a message's code. */
export const macBytes = async (key: Key, message: Uint8Array<ArrayBuffer>): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.sign("HMAC", key, message))

/** Returns the code of a message as lower-case hex. */
export const mac = async (key: Key, message: Uint8Array<ArrayBuffer>): Promise<string> => {
  let hex = ""
  for (const byte of await macBytes(key, message)) hex += digits[byte]
  return hex
}

/**
 * Returns whether one of the candidates equals one of the codes. Compares every character of
 * every pair, so that the duration does not reveal the position of a difference. All texts have
 * the length of a code in its notation.
 */
export const matches = (codes: ReadonlyArray<string>, candidates: ReadonlyArray<string>): boolean => {
  let found = 0
  for (const code of codes) {
    for (const candidate of candidates) found |= equal(code, candidate)
  }
  return found === 1
}

/** Length of a code in hex. */
export const codeLength = 64

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const algorithm = { name: "HMAC", hash: "SHA-256" }
const encoder = new TextEncoder()
const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** Returns 1 if the texts are equal and 0 otherwise, without a branch. */
const equal = (code: string, candidate: string): number => {
  let difference = code.length ^ candidate.length
  for (let i = 0; i < code.length; i++) difference |= code.charCodeAt(i) ^ candidate.charCodeAt(i)
  // Only 0 - 1 has its sign bit set.
  return (difference - 1) >>> 31
}
