/** Words. */

/** The text with its first letter in upper case. */
export const capital = (text: string): string => text.replace(/^./, (first) => first.toUpperCase())
