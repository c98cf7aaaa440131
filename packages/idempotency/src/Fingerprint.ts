/**
 * Hashes request bodies, so that bodies that differ only in key order and insignificant
 * white space have the same fingerprint.
 *
 * The hashed text follows RFC 8785: object keys sorted by UTF-16 code units, numbers and
 * strings as ECMAScript writes them.
 */
import { type Brand, Effect, Schema } from "effect"
import { Digest } from "effect/crypto"

/** SHA-256 of a canonical JSON text, 64 lower-case hexadecimal digits. */
export type Fingerprint = Brand.Branded<string, "Fingerprint">

/** Schema of `Fingerprint`. */
export const Fingerprint = Schema.String.pipe(
  Schema.refine((text): text is Fingerprint => /^[0-9a-f]{64}$/.test(text), {
    identifier: "Fingerprint",
    expected: "64 lower-case hexadecimal digits"
  })
)

/**
 * Computes the fingerprint of a value that `JSON.parse` returned. Yields while it encodes a
 * long value, such as one with images in base64, so that other fibers make progress.
 */
export const make = Effect.fnUntraced(function*(json: Schema.Json) {
  const { digestHex } = yield* Digest.Digest
  const encoder = new TextEncoder()
  const chunks: Array<Uint8Array<ArrayBuffer>> = []
  let text = ""
  for (const piece of piecesOf(json)) {
    text += piece
    if (text.length < pieceMax) continue
    chunks.push(encoder.encode(text))
    text = ""
    yield* Effect.yieldNow
  }
  const last = encoder.encode(text)
  const bytes = chunks.length === 0 ? last : yield* concat([...chunks, last])
  return (yield* digestHex(Digest.sha256, bytes)) as Fingerprint
})

/**
 * Returns the canonical text of a JSON value.
 *
 * Values that RFC 8785 excludes but `JSON.parse` accepts have a distinct text: numbers
 * beyond the range of a double (`1e999`, parsed as Infinity), and lone surrogates.
 */
export const canonicalize = (json: Schema.Json): string => Array.from(piecesOf(json)).join("")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns the canonical text in order, in pieces whose encoding takes a few milliseconds at most. */
function* piecesOf(json: Schema.Json): Generator<string> {
  // Not recursive, since the client chooses the depth of nesting and the call stack is limited.
  const pending: Array<Piece> = [{ value: json }]
  for (let piece = pending.pop(); piece !== undefined; piece = pending.pop()) {
    if (piece.before !== undefined) yield piece.before
    const { value } = piece
    if (value === undefined) continue
    if (typeof value === "string" && value.length > pieceMax) {
      yield* longString(value)
    } else if (typeof value !== "object" || value === null) {
      yield scalar(value)
    } else if (Array.isArray(value)) {
      yield "["
      pushAll(pending, "]", value.map((item: Schema.Json, index) => ({ before: index === 0 ? "" : ",", value: item })))
    } else {
      yield "{"
      const members = Object.entries(value as Schema.JsonObject).toSorted(([a], [b]) => a < b ? -1 : 1)
      pushAll(
        pending,
        "}",
        members.map(([name, member], index) => ({
          before: `${index === 0 ? "" : ","}${JSON.stringify(name)}:`,
          value: member
        }))
      )
    }
  }
}

/** Number of UTF-16 code units from which a text is encoded. */
const pieceMax = 256 * 1024

/** Returns the text of a string in pieces. No piece ends between two halves of a surrogate pair. */
function* longString(value: string): Generator<string> {
  yield "\""
  for (let start = 0; start < value.length;) {
    const end = start + pieceMax - (isHighSurrogate(value.charCodeAt(start + pieceMax - 1)) ? 1 : 0)
    yield JSON.stringify(value.slice(start, end)).slice(1, -1)
    start = end
  }
  yield "\""
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** Joins chunks and yields after each. */
const concat = Effect.fnUntraced(function*(chunks: ReadonlyArray<Uint8Array<ArrayBuffer>>) {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let length = 0
  for (const chunk of chunks) {
    bytes.set(chunk, length)
    length += chunk.length
    yield* Effect.yieldNow
  }
  return bytes
})

/** A text, then a value to append. */
interface Piece {
  readonly before?: string
  readonly value?: Schema.Json
}

const pushAll = (pending: Array<Piece>, end: string, pieces: ReadonlyArray<Piece>) => {
  pending.push({ before: end })
  for (let index = pieces.length - 1; index >= 0; index--) pending.push(pieces[index]!)
}

const scalar = (value: string | number | boolean | null): string =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : JSON.stringify(value)
