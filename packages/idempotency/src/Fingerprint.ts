/**
 * The hash by which two request bodies are the same: equal after parsing, key
 * order and insignificant white space aside (D14).
 *
 * The text that is hashed follows RFC 8785: object keys sorted by UTF-16 code
 * units, numbers and strings as ECMAScript writes them.
 */
import { type Brand, Effect, Schema } from "effect"
import { Digest } from "effect/crypto"

/** SHA-256 of a canonical JSON text, 64 lower-case hexadecimal digits. */
export type Fingerprint = Brand.Branded<string, "Fingerprint">

/** See the type of the same name. */
export const Fingerprint = Schema.String.pipe(
  Schema.refine((text): text is Fingerprint => /^[0-9a-f]{64}$/.test(text), {
    identifier: "Fingerprint",
    expected: "64 lower-case hexadecimal digits"
  })
)

/**
 * The fingerprint of a value as `JSON.parse` returns it. Costs one native pass
 * over long strings, so bodies with images in base64 are fine. Where the hash
 * itself runs is up to the `Digest`.
 */
export const make = (json: Schema.Json): Effect.Effect<Fingerprint, never, Digest.Digest> =>
  Digest.Digest.use((digest) =>
    Effect.map(
      digest.digestHex(Digest.sha256, new TextEncoder().encode(canonicalize(json))),
      (hex) => hex as Fingerprint
    )
  )

/**
 * The canonical text of a JSON value.
 *
 * Two things that RFC 8785 leaves out but `JSON.parse` lets through have a text of
 * their own, so that they match nothing else: a number beyond the range of a
 * double (`1e999`, parsed as Infinity), and half of a surrogate pair.
 */
export const canonicalize = (json: Schema.Json): string => {
  let text = ""
  // A stack of its own: nesting is as deep as the client likes, and the thread's stack is not.
  const pending: Array<Piece> = [{ value: json }]
  for (let piece = pending.pop(); piece !== undefined; piece = pending.pop()) {
    if (piece.before !== undefined) text += piece.before
    const { value } = piece
    if (value === undefined) continue
    if (typeof value !== "object" || value === null) {
      text += scalar(value)
    } else if (Array.isArray(value)) {
      text += "["
      pushAll(pending, "]", value.map((item: Schema.Json, index) => ({ before: index === 0 ? "" : ",", value: item })))
    } else {
      text += "{"
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
  return text
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A text to write, then a value to write. */
interface Piece {
  readonly before?: string
  readonly value?: Schema.Json
}

const pushAll = (pending: Array<Piece>, end: string, pieces: ReadonlyArray<Piece>) => {
  pending.push({ before: end })
  for (let index = pieces.length - 1; index >= 0; index--) pending.push(pieces[index]!)
}

/** Every runtime has it, but TypeScript knows it only together with a browser's or Node's other globals. */
declare const TextEncoder: new() => { readonly encode: (text: string) => Uint8Array<ArrayBuffer> }

const scalar = (value: string | number | boolean | null): string =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : JSON.stringify(value)
