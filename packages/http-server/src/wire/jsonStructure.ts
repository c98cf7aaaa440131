/** The cost of parsing and validating a JSON text, estimated without parsing it. */

/** The maximum nesting. No valid request needs more than four levels. */
export const depthMax = 32

/** The maximum weight of a string, because long prompts and images are fast to parse. */
export const stringWeightMax = 256

/**
 * Returns whether a JSON text in UTF-8 is nested deeper than `depthMax` or weighs more
 * than `weightMax`. The weight is the number of bytes, where a string counts at most
 * `stringWeightMax` plus its escaped quotes. Invalid JSON is left to the parser.
 */
export const isExcessive = (text: Uint8Array, weightMax: number): boolean => {
  let weight = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case quote: {
        const start = at
        for (at = text.indexOf(quote, start + 1); isEscaped(text, at); at = text.indexOf(quote, at + 1)) {
          if (++weight > weightMax) return true
        }
        if (at < 0) return false
        weight += Math.min(at - start, stringWeightMax)
        break
      }
      case openBracket:
      case openBrace:
        if (++depth > depthMax) return true
        break
      case closeBracket:
      case closeBrace:
        depth--
    }
    if (++weight > weightMax) return true
  }
  return false
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const quote = 0x22
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** Whether an odd number of backslashes precedes this position. */
const isEscaped = (text: Uint8Array, at: number): boolean => {
  let before = at - 1
  while (before >= 0 && text[before] === backslash) before--
  return at >= 0 && (at - 1 - before) % 2 === 1
}
