/** Schema issues in plain sentences. */
import { Issue } from "@kinora/catalog"
import { type Schema, SchemaIssue } from "effect"

/** One problem of a request, as `details.issues` lists it. */
export interface WireIssue {
  readonly path: string
  readonly message: string
}

/** Returns the problems of a query. A parameter that is not a string was sent more than once. */
export const queryIssuesOf = (error: Schema.SchemaError): ReadonlyArray<WireIssue> =>
  issuesOf(error).map(({ message, path }) => ({
    path,
    message: message === "must be a string" ? "must be sent once" : message
  }))

/** Returns the problems of a body, at most 100. */
export const issuesOf = ({ issue }: Schema.SchemaError): ReadonlyArray<WireIssue> =>
  format(issue).issues.slice(0, issuesMax).map(({ message, path = [] }) => ({
    path: Issue.formatPath(path.map((segment) => {
      const key = typeof segment === "object" ? segment.key : segment
      return typeof key === "number" ? key : String(key)
    })),
    message: shorten(plain(message))
  }))

/** Rewrites a message of Effect's schemas. Messages of our own schemas begin with `must` and stay as they are. */
export const plain = (message: string): string => {
  if (message === "Missing key") return "is required"
  if (message === "Expected no excess property") return "is not a known property"
  if (message === "Expected a valid JSON body") return "must be valid JSON"
  const expected = /^Expected (.+)$/s.exec(message)?.[1]
  return expected === undefined ? message : `must be ${alternatives(expected)}`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const issuesMax = 100
const messageCharsMax = 300

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Rewrites `"a" | "b" | string` as `a, b or a string`. */
const alternatives = (expected: string): string => {
  const names = expected.split(" | ").map(nameOf)
  const last = names.pop() ?? ""
  return names.length === 0 ? last : `${names.join(", ")} or ${last}`
}

const nameOf = (expected: string): string => {
  const literal = /^"(.*)"$/.exec(expected)?.[1]
  // Schemas with an identifier, which is in upper camel case, describe objects.
  return literal ?? typeNames[expected] ?? (/^[A-Z]\w+$/.test(expected) ? "an object" : expected)
}

const typeNames: Readonly<Record<string, string>> = {
  array: "an array",
  boolean: "a boolean",
  number: "a number",
  object: "an object",
  string: "a string"
}

/** A message can contain text of the request, which can be long. */
const shorten = (message: string): string =>
  message.length > messageCharsMax ? `${message.slice(0, messageCharsMax)}…` : message
