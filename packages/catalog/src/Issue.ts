/** Problems of an input. */

/** A problem and its position in the input. Checks return all problems of an input, not only the first. */
export interface Issue {
  /** Keys and indexes from the root of the input to the value, or to the place of a missing value. */
  readonly path: ReadonlyArray<string | number>
  /** Describes the expected value. Does not repeat long input. */
  readonly message: string
}

/** Formats a path such as `models[0].price_table[2].credits`. The root is the empty string. */
export const formatPath = (path: Issue["path"]): string =>
  path.reduce<string>(
    (text, key) => typeof key === "number" ? `${text}[${key}]` : text === "" ? key : `${text}.${key}`,
    ""
  )
