/** Headers of several limits. */

/** Returns the value of a header with that of another limit. `X-RateLimit-*` have one value, of the last limit. */
export const appended = (
  name: string,
  before: number | string | ReadonlyArray<string> | undefined,
  value: string
): string => before === undefined || name.startsWith("x-") ? value : `${[before].flat().join(", ")}, ${value}`
