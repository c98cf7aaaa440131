/** Problems of keys of the configuration file that have schemas of their own. */
import { type Schema, SchemaIssue } from "effect"

/** A problem. The message contains no value. */
export interface SectionProblem {
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

/** A problem in the configuration file. */
export interface LocatedProblem {
  /** Starts at the configuration, such as `moderation.hook.url`. */
  readonly path: string
  /** The message. It contains no value. */
  readonly message: string
}

/** The message of an error with a line for each problem. */
export const messageOf = (title: string, problems: ReadonlyArray<LocatedProblem>): string =>
  [title, ...problems.map(({ message, path }) => `  ${path}: ${message}`)].join("\n")

/** Returns the problems of a value that its schema rejects. */
export const problemsOf = ({ issue }: Schema.SchemaError): ReadonlyArray<SectionProblem> =>
  formatIssue(issue).issues.map(({ message, path = [] }) => ({ path: path.map(keyOf), message: ruleOf(message) }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): string | number => {
  const key = typeof segment === "object" ? segment.key : segment
  return typeof key === "number" ? key : String(key)
}

const ruleOf = (message: string): string => {
  if (message === "Missing key") return "must be given"
  return message === "Expected no excess property" ? "is not an option" : message.replace(/^Expected /, "must be ")
}
