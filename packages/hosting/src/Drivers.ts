/** The drivers of a host: those that are always registered, those of the program, and those of the configuration file. */
import { Catalog, DefaultModels, Issue, type Model } from "@kinora/catalog"
import { type Driver, type Generator, Generators, UpstreamLimits } from "@kinora/generator"
import ProceduralDriver from "@kinora/generator-procedural/ProceduralDriver"
import ScriptedDriver from "@kinora/generator/ScriptedDriver"
import type { Problem } from "@kinora/generator/ServedModel"
import { Data, Effect, Layer, Result } from "effect"
import * as DriverFile from "./internal/drivers/driverFile.ts"
import { type LocatedProblem, messageOf } from "./internal/settings/sectionProblems.ts"
import { clientParams } from "./Services.ts"
import type { Settings } from "./Settings.ts"

/** A driver and its options. */
export interface Registration {
  readonly driver: Driver.Driver
  /** Options, which are checked at start. Default: none. */
  readonly options?: unknown
  /** Limits of the calls to it, as in a configuration. Default: those of `UpstreamLimits`. */
  readonly limits?: unknown
}

/** Drivers by the name that models use. */
export type Registrations = Readonly<Record<string, Registration>>

/**
 * The drivers of every host: `procedural`, which paints images and videos without a model, and
 * `scripted`, which returns files after a delay, for load tests and drills. A host can
 * register others under these names.
 */
export const defaults = {
  procedural: { driver: ProceduralDriver },
  scripted: { driver: ScriptedDriver }
} satisfies Registrations

/** Drivers or models that cannot be used. Stops the start and lists every problem. */
export class InvalidDrivers extends Data.TaggedError("InvalidDrivers")<{
  /** Paths start at the configuration, such as `drivers.mine.options.api_key` or `models.poster-1.driver.name`. */
  readonly problems: ReadonlyArray<LocatedProblem>
}> {
  override get message(): string {
    const count = this.problems.length === 1 ? "1 problem" : `${this.problems.length} problems`
    return messageOf(`${count} in the configuration of drivers and models`, this.problems)
  }
}

/** A driver with valid options could not start. */
export class DriverNotStarted extends Data.TaggedError("DriverNotStarted")<{
  readonly name: string
  readonly cause: Driver.DriverError
}> {
  override get message(): string {
    return `The driver ${this.name} could not start: ${this.cause.message}`
  }
}

/** Options for `layer`. */
export interface DriversOptions extends Partial<Pick<Settings, "models" | "driverFile">> {
  /** Drivers of the program, besides `defaults`. Those of the configuration file take precedence. */
  readonly drivers?: Registrations | undefined
}

/**
 * Loads the modules of the configuration file, checks all drivers and models, and builds
 * the drivers that models use, and those of the file. Fails with `InvalidDrivers` if a driver, its options or a
 * model is invalid, or if a driver cannot serve a model that is not withdrawn.
 */
export const layer = (
  options: DriversOptions = {}
): Layer.Layer<Generators.Generators, InvalidDrivers | DriverNotStarted> =>
  Layer.unwrap(Effect.gen(function*() {
    const { models = DefaultModels.models } = options
    const file = options.driverFile === undefined ? noFile : yield* DriverFile.load(options.driverFile)
    const registrations: Registrations = { ...defaults, ...options.drivers, ...file.drivers }
    const configured = Object.entries(registrations).map(([name, { driver, limits = {}, options = {} }]) => ({
      name,
      generator: driver.generator(options),
      limits: UpstreamLimits.decode(limits)
    }))
    const served = validModels(models)
    const problems = [
      ...file.problems.map((problem) => under("drivers", problem)),
      ...configured.flatMap(({ generator, name }) =>
        Result.isSuccess(generator) ? [] : optionProblems(name, generator.failure, file.problems)
      ),
      ...configured.flatMap(({ limits, name }) => Result.isSuccess(limits) ? [] : limitProblems(name, limits.failure)),
      ...catalogProblems(models),
      ...served.flatMap((model) => servedProblems(model, registrations, file.names))
    ]
    if (problems.length > 0) return yield* new InvalidDrivers({ problems })
    // Those of the file are built even if no model uses them any more, since their last jobs may not have ended.
    const used = new Set([...served.flatMap(namesOf), ...file.names])
    return Generators.layer(
      Object.fromEntries(configured.flatMap(({ generator, name }) =>
        Result.isSuccess(generator) && used.has(name) ? [[name, started(name, generator.success)]] : []
      )),
      Object.fromEntries(configured.flatMap(({ limits, name }) =>
        Result.isSuccess(limits) ? [[name, limits.success]] : []
      ))
    )
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const noFile: DriverFile.LoadedDrivers = { drivers: {}, names: [], problems: [] }

const under = (root: string, { message, path }: Problem) => ({ path: Issue.formatPath([root, ...path]), message })

const started = (name: string, generator: Layer.Layer<Generator.Generator, Driver.DriverError>) =>
  Layer.catch(generator, (cause) => Layer.effectContext(Effect.fail(new DriverNotStarted({ name, cause }))))

/** Returns the problems of the options of a driver, except those that the file has at the same path. */
const optionProblems = (name: string, problems: ReadonlyArray<Problem>, ofFile: ReadonlyArray<Problem>) => {
  const known = ofFile.filter(({ path }) => path[1] === "options")
  return problems
    .map(({ message, path }) => ({ path: [name, "options", ...path], message }))
    // An option without its environment variable is invalid for its schema as well.
    .filter(({ path }) => !known.some((problem) => problem.path.every((key, index) => path[index] === key)))
    .map((problem) => under("drivers", problem))
}

const catalogProblems = (models: unknown) =>
  Result.match(Catalog.parse(models, { params: clientParams }), {
    onFailure: ({ issues }) => issues.map((issue) => under("models", issue)),
    onSuccess: () => []
  })

/** Returns the models that are valid by themselves, so that their drivers are checked although other models are invalid. */
const validModels = (models: unknown): ReadonlyArray<Model.Model> =>
  Array.isArray(models) && models.length <= Catalog.modelsMax
    ? models.flatMap((model: unknown) => Result.getOrElse(Catalog.parse([model]), () => []))
    : []

const limitProblems = (name: string, problems: ReadonlyArray<Problem>) =>
  problems.map(({ message, path }) => under("drivers", { path: [name, "limits", ...path], message }))

/** Returns the names of the drivers of a model. */
const namesOf = ({ driver }: Model.Model): ReadonlyArray<string> => [
  driver.name,
  ...driver.fallbacks.map(({ name }) => name)
]

/** Returns the problems of a model with its drivers. */
const servedProblems = (model: Model.Model, registrations: Registrations, namesInFile: ReadonlyArray<string>) => {
  if (model.status === "withdrawn") return []
  const names = namesOf(model)
  return [model.driver, ...model.driver.fallbacks].flatMap((driver, index) => {
    const path = index === 0 ? ["driver"] : ["driver", "fallbacks", index - 1]
    const problems = names.indexOf(driver.name) < index
      ? [{ path: [...path, "name"], message: "must be a driver that the model does not have already" }]
      : driverProblems({ ...model, driver: { ...model.driver, ...driver } }, path, registrations, namesInFile)
    return problems.map(({ message, path }) => under("models", { path: [model.id, ...path], message }))
  })
}

/** Returns the problems of a model with the driver at this path. */
const driverProblems = (
  model: Model.Model,
  path: Problem["path"],
  registrations: Registrations,
  namesInFile: ReadonlyArray<string>
): ReadonlyArray<Problem> => {
  const { name } = model.driver
  if (Object.hasOwn(registrations, name)) {
    return (registrations[name]?.driver.check(model) ?? []).map((problem) => ({
      ...problem,
      path: problem.path[0] === "driver" ? [...path, ...problem.path.slice(1)] : problem.path
    }))
  }
  // The file names the driver, and its problem is listed.
  if (namesInFile.includes(name)) return []
  const names = [...new Set([...Object.keys(registrations), ...namesInFile])].toSorted()
  return [{ path: [...path, "name"], message: `must be one of the drivers: ${names.join(", ")}` }]
}
