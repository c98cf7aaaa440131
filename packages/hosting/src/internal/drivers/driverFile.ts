/** `drivers` of the configuration file: reads the entries and loads their modules. */
import type { Problem } from "@kinora/generator/ServedModel"
import { Effect, Redacted, Result } from "effect"
import type { Environment } from "../settings/settingValues.ts"
import { isRecord, type Section, withVariables } from "../settings/variables.ts"
import { type DriverModule, load as loadModule } from "./driverModule.ts"

/** Drivers by name with their options, and the problems of those that cannot be used. Paths start at `drivers`. */
export interface LoadedDrivers {
  readonly drivers: Readonly<
    Record<string, { readonly driver: DriverModule; readonly options: unknown; readonly limits: unknown }>
  >
  /** Every name in the file, also of drivers with problems. */
  readonly names: ReadonlyArray<string>
  readonly problems: ReadonlyArray<Problem>
}

/** Maximum number of drivers of a configuration file. */
const driversMax = 64

/** Loads all drivers of the file. */
export const load = Effect.fnUntraced(function*({ content, directory, environment }: Section) {
  const variables = Redacted.value(environment)
  const entries = isRecord(content) ? Object.entries(content) : []
  if (!isRecord(content)) return nothing("must be a mapping from names to drivers")
  if (entries.length > driversMax) return nothing(`must have at most ${driversMax} drivers`)
  const drivers: Record<string, LoadedDrivers["drivers"][string]> = {}
  const problems: Array<Problem> = []
  for (const [name, value] of entries) {
    const { limits, options, path, problems: wrong } = entryOf(name, value, variables)
    problems.push(...wrong)
    if (path === undefined) continue
    const loaded = yield* Effect.result(loadModule(path, directory))
    if (Result.isSuccess(loaded)) drivers[name] = { driver: loaded.success, options, limits }
    else problems.push({ path: typeof value === "string" ? [name] : [name, "module"], message: loaded.failure.problem })
  }
  const found: LoadedDrivers = { drivers, names: entries.map(([name]) => name), problems }
  return found
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const nothing = (message: string): LoadedDrivers => ({ drivers: {}, names: [], problems: [{ path: [], message }] })

/** An entry of the file. */
interface Entry {
  /** Path or package of the module; `undefined` if the entry has none. */
  readonly path: string | undefined
  readonly options: unknown
  readonly limits: unknown
  readonly problems: ReadonlyArray<Problem>
}

const entryOf = (name: string, value: unknown, variables: Environment): Entry => {
  const named = /^[a-z0-9][a-z0-9._-]{0,63}$/.test(name)
    ? []
    : [{ path: [name], message: "must be a name of at most 64 lower-case letters, digits, '.', '_' and '-'" }]
  if (isModule(value)) return { path: value, options: {}, limits: {}, problems: named }
  if (!isRecord(value)) {
    return { path: undefined, options: {}, limits: {}, problems: [...named, { path: [name], message: expected }] }
  }
  const { limits = {}, module, options = {}, ...others } = value
  const resolved = withVariables(options, variables, [name, "options"])
  return {
    path: isModule(module) ? module : undefined,
    options: resolved.value,
    limits,
    problems: [
      ...named,
      ...isModule(module) ? [] : [{ path: [name, "module"], message: expected }],
      ...Object.keys(others).map((key) => ({
        path: [name, key],
        message: "is not a key of a driver; keys: module, options, limits"
      })),
      ...resolved.problems
    ]
  }
}

const expected = "must be a module: a path such as ./drivers/mine.ts, or a package"

const isModule = (value: unknown): value is string => typeof value === "string" && value !== ""
