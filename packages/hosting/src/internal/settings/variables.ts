/** `{ env: NAME }` in the configuration file. */
import type { Problem } from "@kinora/generator/ServedModel"
import type { Redacted } from "effect"
import type { Environment } from "./settingValues.ts"

/** A key of the configuration file whose content has a schema of its own. */
export interface Section {
  /** Value of the key. */
  readonly content: unknown
  /** Absolute path of the directory of the file. Paths of modules are relative to it. */
  readonly directory: string
  /** Variables for `{ env: NAME }`. */
  readonly environment: Redacted.Redacted<Environment>
}

/** Returns whether the value is a mapping. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Replaces each `{ env: NAME }` by the variable. Without the variable, the value is `undefined` and a problem. */
export const withVariables = (
  value: unknown,
  variables: Environment,
  path: Problem["path"]
): { readonly value: unknown; readonly problems: ReadonlyArray<Problem> } => {
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => withVariables(item, variables, [...path, index]))
    return { value: items.map((item) => item.value), problems: items.flatMap(({ problems }) => problems) }
  }
  if (!isRecord(value)) return { value, problems: [] }
  const { env: name, ...others } = value
  if (typeof name === "string" && Object.keys(others).length === 0) {
    const variable = variables[name]
    return variable === undefined || variable === ""
      ? { value: undefined, problems: [{ path, message: `must be set: the environment has no variable ${name}` }] }
      : { value: variable, problems: [] }
  }
  const fields = Object.entries(value).map(([key, field]) =>
    [key, withVariables(field, variables, [...path, key])] as const
  )
  return {
    value: Object.fromEntries(fields.map(([key, field]) => [key, field.value])),
    problems: fields.flatMap(([, { problems }]) => problems)
  }
}
