/** Joins class names. Omits those that are absent. */
export const names = (...all: ReadonlyArray<string | false | null | undefined>): string => all.filter(Boolean).join(" ")
