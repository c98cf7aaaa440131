/** Words. */

/** The text with its first letter in upper case. */
export const capital = (text: string): string => text.replace(/^./, (first) => first.toUpperCase())

/** The kinds of credit lots, in words. */
export const lotNames = { plan: "Plan", addon: "Add-on", trial: "Trial", refund: "Refund" } as const
