/** How much there is to parse and to check in a JSON text, before anything is parsed. Pure. */

/** Brackets inside of brackets that a body may have. No request needs more than four. */
export const depthMax = 32

/** What a string counts for at most: however long a prompt or an image is, it is quickly passed over. */
export const stringWeightMax = 256

/**
 * Whether a JSON text, as UTF-8, is nested deeper than `depthMax` or weighs more than
 * `weightMax`: its bytes, of which a string counts for at most `stringWeightMax`, and
 * what is escaped in it besides. Takes time for what it counts, and skips the rest at
 * the speed of memory. What is no JSON is left to the parser.
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

/** Whether an odd number of backslashes stands before this place. */
const isEscaped = (text: Uint8Array, at: number): boolean => {
  let before = at - 1
  while (before >= 0 && text[before] === backslash) before--
  return at >= 0 && (at - 1 - before) % 2 === 1
}
