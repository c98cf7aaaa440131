/** Base64 (RFC 4648, section 4) of streams, from bytes to bytes. */
import { Stream } from "effect"

/** The length of the encoding of this many bytes. */
export const encodedLength = (bytes: number): number => Math.ceil(bytes / 3) * 4

/** Encodes a stream chunk by chunk. Holds at most one chunk. */
export const encode = <E, R>(self: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
  Stream.mapAccum(self, (): Uint8Array => empty, (rest, chunk) => {
    const bytes = joined(rest, chunk)
    // Three bytes become four letters. Only the end is padded.
    const whole = bytes.length - bytes.length % 3
    return [bytes.subarray(whole), [encodeBytes(bytes.subarray(0, whole))]]
  }, { onHalt: (rest) => rest.length === 0 ? [] : [encodeBytes(rest)] })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const empty = new Uint8Array()

const joined = (rest: Uint8Array, chunk: Uint8Array): Uint8Array => {
  if (rest.length === 0) return chunk
  const bytes = new Uint8Array(rest.length + chunk.length)
  bytes.set(rest)
  bytes.set(chunk, rest.length)
  return bytes
}

const alphabet = Uint8Array.from(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
  (letter) => letter.charCodeAt(0)
)
const padding = "=".charCodeAt(0)

const encodeBytes = (bytes: Uint8Array): Uint8Array => {
  const text = new Uint8Array(encodedLength(bytes.length))
  const letter = (sextet: number) => alphabet[sextet & 63]!
  for (let from = 0, to = 0; from < bytes.length; from += 3, to += 4) {
    const word = bytes[from]! << 16 | (bytes[from + 1] ?? 0) << 8 | (bytes[from + 2] ?? 0)
    text[to] = letter(word >> 18)
    text[to + 1] = letter(word >> 12)
    text[to + 2] = letter(word >> 6)
    text[to + 3] = letter(word)
  }
  const missing = (3 - bytes.length % 3) % 3
  return missing === 0 ? text : text.fill(padding, text.length - missing)
}
