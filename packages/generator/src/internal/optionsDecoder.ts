/** Decodes options of a configuration. */
import { Result, Schema, SchemaAST, SchemaIssue } from "effect"
import type { Problem } from "../ServedModel.ts"

/** Makes a function that decodes options, and returns every problem. Messages describe the rule, not the value. */
export const decoder = <A>(schema: Schema.ConstraintDecoder<A>) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })
  const names = namesOf(schema)
  return (input: unknown): Result.Result<A, ReadonlyArray<Problem>> =>
    Result.mapError(decode(input), ({ issue }) =>
      formatIssue(issue).issues.map(({ message, path = [] }) => ({
        path: path.map(keyOf),
        message: messageOf(message, path.length === 1 ? names : [])
      })))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): string | number => {
  const key = typeof segment === "object" ? segment.key : segment
  return typeof key === "number" ? key : String(key)
}

const messageOf = (message: string, names: ReadonlyArray<string>): string => {
  if (message === "Missing key") return "must be given"
  if (message !== "Expected no excess property") {
    return message.replace(/^Expected (?=(string|number|boolean)$)/, "must be a ").replace(
      /^Expected object$/,
      "must be a mapping"
    ).replace(/^Expected /, "must be ")
  }
  return names.length > 0 ? `is not an option; options: ${names.join(", ")}` : "is not an option"
}

/** Returns the names of the options of a struct. */
const namesOf = (schema: Schema.Constraint): ReadonlyArray<string> => {
  const ast = SchemaAST.toEncoded(schema.ast)
  return SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : []
}
