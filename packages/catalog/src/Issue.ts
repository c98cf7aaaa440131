/** One thing that is wrong with an input, and where. */

/** A problem. Inputs are answered with all of theirs, not only the first. */
export interface Issue {
  /** Keys and indexes from the input's root to what is wrong; for something missing, to where it belongs. */
  readonly path: ReadonlyArray<string | number>
  /** What was expected, for people. Never repeats the input at length. */
  readonly message: string
}

/** The path as text: `models[0].price_table[2].credits`; empty for the root. */
export const formatPath = (path: Issue["path"]): string =>
  path.reduce<string>(
    (text, key) => typeof key === "number" ? `${text}[${key}]` : text === "" ? key : `${text}.${key}`,
    ""
  )
