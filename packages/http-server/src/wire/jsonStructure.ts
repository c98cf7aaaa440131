/** The cost of parsing and validating a JSON text, estimated without parsing it. */
import { Effect } from "effect"
import { isEscaped, pieceEnd, pieceMax } from "./pieces.ts"

/** The maximum nesting. No valid request needs more than four levels. */
export const depthMax = 32

/** The maximum weight of a string, because long prompts and images are fast to parse. */
export const stringWeightMax = 256

/** The lengths by which a text is divided, in bytes. */
export interface Division {
  /** The maximum length of a string, between its quotes, that is parsed together with the text around it. */
  readonly shortStringMax: number
  /** The length of the pieces of longer strings, at least 16. */
  readonly pieceMax: number
}

/** The division of which each part takes at most a few milliseconds. */
export const defaultDivision: Division = { shortStringMax: 16 * 1024, pieceMax }

/** A long string of a text that is not a property name: the positions after its opening quote and of its closing quote. */
export interface LongString {
  readonly start: number
  readonly end: number
}

/** Limits of a text. */
export interface StructureLimits {
  /**
   * The maximum weight: the number of bytes, where a string that is not a property name counts at most `stringWeightMax` plus its
   * escaped quotes.
   */
  readonly weightMax: number
  /** The maximum length of a string between its quotes, in bytes. */
  readonly stringBytesMax: number
}

/**
 * Returns the long strings of a JSON text in UTF-8, in their order. Fails with `TooComplex` if the text is nested deeper
 * than `depthMax` or weighs too much, with `LongString` if a string is too long, and with `Malformed` if a string has no
 * end. Other invalid JSON is left to the parser.
 */
export const measure = Effect.fnUntraced(function*(
  text: Uint8Array,
  { stringBytesMax, weightMax }: StructureLimits,
  division = defaultDivision
) {
  const longStrings: Array<LongString> = []
  let weight = 0
  let depth = 0
  let length = 0
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case quote: {
        const start = at + 1
        for (let from = start, isClosed = false; !isClosed;) {
          const end = pieceEnd(text, from, division.pieceMax)
          const found = closingQuote(text.subarray(from, end))
          weight += found.escapedQuotes
          if (weight > weightMax) return yield* Effect.fail("TooComplex" as const)
          isClosed = found.at >= 0
          if (isClosed) at = from + found.at
          else if (end === text.length) return yield* Effect.fail("Malformed" as const)
          else yield* Effect.yieldNow
          from = end
          if ((isClosed ? at : end) - start > stringBytesMax) return yield* Effect.fail("LongString" as const)
        }
        length = at - start
        if (length > division.shortStringMax) longStrings.push({ start, end: at })
        weight += Math.min(length + 1, stringWeightMax)
        break
      }
      case colon:
        // The last string is a name. Names replace equal ones, so they are parsed together with the text around them.
        if (length > division.shortStringMax) longStrings.pop()
        weight += Math.max(length + 1 - stringWeightMax, 0)
        length = 0
        break
      case openBracket:
      case openBrace:
        if (++depth > depthMax) return yield* Effect.fail("TooComplex" as const)
        break
      case closeBracket:
      case closeBrace:
        depth--
    }
    if (++weight > weightMax) return yield* Effect.fail("TooComplex" as const)
  }
  return longStrings
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const quote = 0x22
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
const colon = 0x3a

/** Returns the position of the quote that ends a string, or -1, and the number of escaped quotes before it. */
const closingQuote = (piece: Uint8Array): { readonly at: number; readonly escapedQuotes: number } => {
  let escapedQuotes = 0
  let at = piece.indexOf(quote)
  for (; isEscaped(piece, at); at = piece.indexOf(quote, at + 1)) escapedQuotes++
  return { at, escapedQuotes }
}
