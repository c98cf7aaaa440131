/** Texts to find in prompts. */

/**
 * Returns the forms of a text in which prompts are searched for it: unchanged, in lower and in upper case, and with a
 * capital first letter. The letters A to Z of each are in lower case, as in `lowerAscii` of a prompt.
 *
 * The rules of letter case of a database depend on its settings, so it compares A to Z only.
 */
export const formsOf = (text: string): ReadonlyArray<string> => {
  const lower = text.toLowerCase()
  const [first = "", ...rest] = lower
  const capital = first.toUpperCase() + rest.join("")
  return Array.from(new Set([text, lower, text.toUpperCase(), capital].map(lowerAscii)))
}

/** Changes the letters A to Z to lower case, like `lower` of a database in the collation "C". */
export const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
