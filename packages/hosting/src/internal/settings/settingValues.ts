/** Reads settings from the environment and the configuration file, and collects all errors. */
import { PlanTable } from "@kinora/accounts"
import { Issue } from "@kinora/catalog"
import { Effect, Result, Schema, SchemaIssue } from "effect"
import { closest, distance } from "fastest-levenshtein"
import type { ConfigFile } from "./configFile.ts"
import { type Definition, definitions, fileKeys, type Key, type Values, variableOf } from "./definitions.ts"
import { InvalidSettings, type SettingsProblem } from "./problems.ts"

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Returns the values of all settings and the plan table. */
export const readAll = (
  environment: Environment,
  file: ConfigFile
): Effect.Effect<{ readonly values: Values; readonly planTable: PlanTable.PlanTable }, InvalidSettings> => {
  const problems: Array<SettingsProblem> = [...unknownNames(environment, file)]
  const keep = <A>(result: Result.Result<A, ReadonlyArray<SettingsProblem>>): A | undefined => {
    if (Result.isSuccess(result)) return result.success
    problems.push(...result.failure)
    return undefined
  }
  const values = Object.fromEntries(
    Object.entries(definitions).map(([key, definition]) => [key, keep(readOne(key, definition, environment, file))])
  )
  const planTable = keep(readPlanTable(file))
  return problems.length > 0 || planTable === undefined
    ? Effect.fail(new InvalidSettings({ problems }))
    // Without problems, each value has the type of its schema.
    : Effect.succeed({ values: values as Values, planTable })
}

/** A setting and where its value comes from. */
export interface EffectiveSetting {
  readonly variable: string
  /** Text of the value, `null` if the setting has none, `(secret)` for a secret. */
  readonly value: string | null
  /** The variable, the key of the file, or `default`. */
  readonly source: string
}

/** Returns every setting with its value, in the order of the reference page. */
export const effectiveOf = (environment: Environment, file: ConfigFile): ReadonlyArray<EffectiveSetting> =>
  Object.entries<Definition>(definitions).map(([key, definition]) => {
    const { isDefault = true, value, where } = sourceOf(key, definition, environment, file) ?? {}
    return {
      variable: variableOf(key),
      value: value === undefined ? null : definition.isSecret === true ? "(secret)" : textOf(value),
      source: isDefault || where === undefined ? "default" : where
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Variables with the prefix `KINORA_` that are not settings of a host: the path of the file, and those of the command and of tests. */
const otherNames = new Set([
  "KINORA_CONFIG",
  "KINORA_ADMIN_URL",
  "KINORA_API_KEY",
  "KINORA_PROFILE",
  "KINORA_URL",
  "KINORA_TEST_POSTGRES",
  "KINORA_TEST_POSTGRES_URL"
])

/**
 * Whether Kubernetes sets the variable: for a Service named `kinora` or `kinora-…`, each container of its namespace gets
 * `KINORA_SERVICE_HOST`, `KINORA_PORT=tcp://…` and others, which can have the names of settings.
 */
const isOfService = (name: string, value: string | undefined): boolean =>
  /^KINORA(_\w+)?_SERVICE_(HOST|PORT(_\w+)?)$/.test(name) ||
  /^KINORA(_\w+)?_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
  /^KINORA(_\w+)?_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value ?? "")

const readOne = (
  key: string,
  definition: Definition,
  environment: Environment,
  file: ConfigFile
): Result.Result<unknown, ReadonlyArray<SettingsProblem>> => {
  const source = sourceOf(key, definition, environment, file)
  if (source === undefined) return Result.succeed(undefined)
  return Result.mapError(Schema.decodeUnknownResult(definition.schema)(source.value), () => {
    const value = definition.isSecret === true ? "is not valid" : `is ${JSON.stringify(source.value)}`
    return [{ where: source.where, problem: `${value}; expected ${definition.expected}` }]
  })
}

/** Returns the text of a setting and its source. An empty variable counts as unset. */
const sourceOf = (
  key: string,
  { default: fallback, isList = false }: Definition,
  environment: Environment,
  file: ConfigFile
): { readonly where: string; readonly value: unknown; readonly isDefault: boolean } | undefined => {
  const variable = variableOf(key)
  const fromEnvironment = environment[variable]
  const isSet = fromEnvironment !== undefined && fromEnvironment !== "" && !isOfService(variable, fromEnvironment)
  if (isSet) return { where: variable, value: fromEnvironment, isDefault: false }
  const fromFile = file.content[key]
  if (fromFile !== undefined && fromFile !== null) {
    const value = isList && Array.isArray(fromFile) ? fromFile.join(",") : asText(fromFile)
    return { where: `${file.path}: ${key}`, value, isDefault: false }
  }
  return fallback === undefined ? undefined : { where: variable, value: fallback, isDefault: true }
}

/** Returns a YAML scalar as text. Other values are returned unchanged, and no setting accepts them. */
const asText = (value: unknown): unknown =>
  typeof value === "number" || typeof value === "boolean" ? String(value) : value

const textOf = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value)

/** Reads `plans` of the file, with the defaults of the plan table. Rejects unknown keys. */
const readPlanTable = (file: ConfigFile): Result.Result<PlanTable.PlanTable, ReadonlyArray<SettingsProblem>> =>
  Result.mapError(
    decodePlanTable(file.content["plans"] ?? {}),
    ({ issue }) =>
      formatIssue(issue).issues.map(({ message, path = [] }) => ({
        where: `${file.path}: ${Issue.formatPath(["plans", ...path.map(segmentOf)])}`,
        problem: `is not valid: ${message}`
      }))
  )

const decodePlanTable = Schema.decodeUnknownResult(PlanTable.PlanTable, { errors: "all", onExcessProperty: "error" })

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

const segmentOf = (segment: PropertyKey | { readonly key: PropertyKey }): string | number => {
  const key = typeof segment === "object" ? segment.key : segment
  return typeof key === "number" ? key : String(key)
}

const unknownNames = (environment: Environment, file: ConfigFile): ReadonlyArray<SettingsProblem> => {
  const keys: ReadonlySet<string> = new Set([...Object.keys(definitions), ...fileKeys])
  const known: ReadonlySet<string> = new Set((Object.keys(definitions) as Array<Key>).map(variableOf))
  return [
    ...Object.keys(environment)
      .filter((name) =>
        name.startsWith("KINORA_") && !known.has(name) && !otherNames.has(name) && !isOfService(name, environment[name])
      )
      .map((name) => ({ where: name, problem: unknownSetting(name, known) })),
    ...Object.keys(file.content)
      .filter((key) => !keys.has(key))
      .map((key) => ({ where: `${file.path}: ${key}`, problem: unknownSetting(key, keys) }))
  ]
}

/** Returns the problem of an unknown name, with the known name that was most likely meant, if one is similar. */
const unknownSetting = (name: string, known: ReadonlySet<string>): string => {
  const similar = closest(name, [...known])
  const isSimilar = distance(name, similar) <= similarityMax
  return `is not a setting; ${isSimilar ? `did you mean ${similar}?` : "`kinora config schema` describes all settings"}`
}

/** Number of inserted, deleted or replaced characters up to which a name counts as mistyped. */
const similarityMax = 3
