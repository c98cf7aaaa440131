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

/** Computes the fingerprint of a value that `JSON.parse` returned. Long strings, such as images in base64, are encoded natively. */
export const make = (json: Schema.Json): Effect.Effect<Fingerprint, never, Digest.Digest> =>
  Digest.Digest.use((digest) =>
    Effect.map(
      digest.digestHex(Digest.sha256, new TextEncoder().encode(canonicalize(json))),
      (hex) => hex as Fingerprint
    )
  )

/**
 * Returns the canonical text of a JSON value.
 *
 * Values that RFC 8785 excludes but `JSON.parse` accepts have a distinct text: numbers
 * beyond the range of a double (`1e999`, parsed as Infinity), and lone surrogates.
 */
export const canonicalize = (json: Schema.Json): string => {
  let text = ""
  // Not recursive, since the client chooses the depth of nesting and the call stack is limited.
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

/** A text, then a value to append. */
interface Piece {
  readonly before?: string
  readonly value?: Schema.Json
}

const pushAll = (pending: Array<Piece>, end: string, pieces: ReadonlyArray<Piece>) => {
  pending.push({ before: end })
  for (let index = pieces.length - 1; index >= 0; index--) pending.push(pieces[index]!)
}

/** Declared here, since TypeScript includes it only together with the globals of browsers or Node. */
declare const TextEncoder: new() => { readonly encode: (text: string) => Uint8Array<ArrayBuffer> }

const scalar = (value: string | number | boolean | null): string =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : JSON.stringify(value)
