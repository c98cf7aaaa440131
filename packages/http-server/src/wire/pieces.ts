/** Work on many bytes in pieces of less than some milliseconds, between which other requests make progress. */
import { Effect } from "effect"

/** The length of a piece in bytes. */
export const pieceMax = 256 * 1024

/** Returns the length of all chunks. */
export const lengthOf = (chunks: ReadonlyArray<Uint8Array>): number =>
  chunks.reduce((sum, { length }) => sum + length, 0)

/** Joins chunks. Empties the list, so that each chunk is held until it was copied only. */
export const concat = Effect.fnUntraced(function*(chunks: Array<Uint8Array>) {
  const [only] = chunks
  if (only !== undefined && chunks.length === 1) return only
  const bytes = new Uint8Array(lengthOf(chunks))
  let length = 0
  let paused = 0
  for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
    bytes.set(chunk, length)
    length += chunk.length
    if (length - paused < pieceMax) continue
    paused = length
    yield* Effect.yieldNow
  }
  return bytes
})

/**
 * Returns where the piece of a JSON string that begins at `from` ends, at most `lengthMax` bytes later. No piece ends
 * within an escape sequence or a character, so that the pieces have the meaning of the whole. `from` must be the start
 * of the string or the end of a piece, and `lengthMax` at least 16.
 */
export const pieceEnd = (text: Uint8Array, from: number, lengthMax: number): number => {
  const until = from + lengthMax
  if (until >= text.length) return text.length
  const piece = text.subarray(from, until)
  let end = characterEnd(text, until) - from
  if (isEscaped(piece, end)) end--
  for (let digits = 2; digits <= unicodeEscapeLength; digits++) {
    const start = end - digits
    if (piece[start] === backslash && piece[start + 1] === letterU && !isEscaped(piece, start)) return from + start
  }
  return from + end
}

/** Returns whether an odd number of backslashes precedes this position. */
export const isEscaped = (text: Uint8Array, at: number): boolean => {
  let before = at - 1
  while (before >= 0 && text[before] === backslash) before--
  return (at - 1 - before) % 2 === 1
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const backslash = 0x5c
const letterU = "u".charCodeAt(0)

/** The length of an incomplete `\uXXXX`. */
const unicodeEscapeLength = 5

/** The number of bytes of a character in UTF-8, at most. */
const characterLengthMax = 4

/** Returns the last position up to this one at which a character begins. In invalid UTF-8 there may be none near. */
const characterEnd = (text: Uint8Array, at: number): number => {
  for (let start = at; start > at - characterLengthMax; start--) {
    if ((text[start]! & 0xc0) !== 0x80) return start
  }
  // Each of so many continuation bytes is an invalid character by itself.
  return at
}
