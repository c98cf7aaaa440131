/** HMAC-SHA256 by WebCrypto, which Node, browsers and edge runtimes share. */

/** A key that can make codes, and not be read again. */
export type Key = CryptoKey

/** The whole text is the key, as UTF-8. */
export const importKey = (secret: string): Promise<Key> =>
  crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"])

/** What is signed: `<t>.` and the body, a text as UTF-8. */
export const message = (timestamp: number, body: Uint8Array | string): Uint8Array<ArrayBuffer> => {
  if (typeof body === "string") return encoder.encode(`${timestamp}.${body}`)
  const prefix = encoder.encode(`${timestamp}.`)
  const bytes = new Uint8Array(prefix.length + body.length)
  bytes.set(prefix)
  bytes.set(body, prefix.length)
  return bytes
}

/** The code of a message, as lower-case hex. */
export const mac = async (key: Key, message: Uint8Array<ArrayBuffer>): Promise<string> => {
  let hex = ""
  for (const byte of new Uint8Array(await crypto.subtle.sign("HMAC", key, message))) hex += digits[byte]
  return hex
}

/**
 * Whether one of the candidates is one of the codes. It looks at every character of
 * every pair whatever it has found, so that the time it takes says nothing about where
 * a guess went wrong (section "Signature"). All texts have the length of a code.
 */
export const matches = (codes: ReadonlyArray<string>, candidates: ReadonlyArray<string>): boolean => {
  let found = 0
  for (const code of codes) {
    for (const candidate of candidates) found |= equal(code, candidate)
  }
  return found === 1
}

/** Characters of a code in hex. */
export const codeLength = 64

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const algorithm = { name: "HMAC", hash: "SHA-256" }
const encoder = new TextEncoder()
const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** 1 or 0, without a branch. */
const equal = (code: string, candidate: string): number => {
  let difference = code.length ^ candidate.length
  for (let i = 0; i < codeLength; i++) difference |= code.charCodeAt(i) ^ candidate.charCodeAt(i)
  // 0 - 1 is the only one of these whose sign bit is set.
  return (difference - 1) >>> 31
}
