/** The models of a service. The whole configuration is checked when the service starts. */
import { Context, Effect, Layer, Option, Result, Schema, SchemaIssue } from "effect"
import { modelIssues } from "./internal/rules.ts"
import { formatPath, type Issue } from "./Issue.ts"
import * as Model from "./Model.ts"

/** Finds and lists the configured models. */
export class Catalog extends Context.Service<Catalog, {
  /**
   * Returns the model with this id or alias, also a withdrawn one. By an alias, the
   * parameters have the defaults of the alias, and `id` is still that of the model.
   * Workers fail the jobs of a withdrawn model; requests treat it as unknown.
   */
  readonly find: (id: string) => Option.Option<Model.Model>
  /** The models that are not withdrawn, in the order of the configuration. */
  readonly list: ReadonlyArray<Model.Model>
  /** The withdrawn models. Their waiting jobs fail and are refunded. */
  readonly withdrawn: ReadonlyArray<Model.Model>
}>()("@kinora/catalog/Catalog") {}

/** The configuration of models is invalid. */
export class InvalidCatalog extends Schema.TaggedError<InvalidCatalog>("@kinora/catalog/InvalidCatalog")(
  "InvalidCatalog",
  {
    /** All problems. Paths start at the list of models. */
    issues: Schema.Array(
      Schema.Struct({ path: Schema.Array(Schema.Union([Schema.String, Schema.Int])), message: Schema.String })
    )
  }
) {
  override get message(): string {
    return [
      `${this.issues.length} ${this.issues.length === 1 ? "problem" : "problems"} in the configuration of models`,
      ...this.issues.map(({ message, path }) => `  models${formatPath(path)}: ${message}`)
    ].join("\n")
  }
}

/** Maximum number of models of a service. */
export const modelsMax = 200

/** Options for `parse`, `make` and `layer`. */
export interface CatalogOptions {
  /** Parameters that clients can set, with their types. Models cannot have others. Default: any. */
  readonly params?: Readonly<Record<string, Model.ParamSchema["type"]>> | undefined
}

/** Parses a configuration of models. Fails with all of its problems. */
export const parse = (
  input: unknown,
  options: CatalogOptions = {}
): Result.Result<ReadonlyArray<Model.Model>, InvalidCatalog> => {
  if (!Array.isArray(input)) return invalid([{ path: [], message: "must be a list of models" }])
  if (input.length > modelsMax) return invalid([{ path: [], message: `must have at most ${modelsMax} models` }])
  const decoded = input.map((model: unknown) => decodeModel(model))
  const models = decoded.flatMap((result) => Result.isSuccess(result) ? [result.success] : [])
  const issues = [
    ...decoded.flatMap((result, index) =>
      under(
        index,
        Result.match(result, {
          onFailure: (issues) => issues,
          onSuccess: (model) => modelIssues(model, options.params)
        })
      )
    ),
    ...duplicateIds(input)
  ]
  return issues.length > 0 ? invalid(issues) : Result.succeed(models)
}

/** Creates the service from a configuration of models. */
export const make = (
  input: unknown,
  options: CatalogOptions = {}
): Effect.Effect<Catalog["Service"], InvalidCatalog> =>
  Effect.map(Effect.fromResult(parse(input, options)), (models) => {
    const byId = new Map(models.flatMap((model) => [
      [model.id, model] as const,
      ...model.aliases.map(({ defaults, id }) => [id, Model.withDefaults(model, defaults)] as const)
    ]))
    return Catalog.of({
      find: (id) => Option.fromUndefinedOr(byId.get(id)),
      list: models.filter(({ status }) => status !== "withdrawn"),
      withdrawn: models.filter(({ status }) => status === "withdrawn")
    })
  })

/** Provides the service. Fails with `InvalidCatalog` if the configuration has problems. */
export const layer = (
  models: ReadonlyArray<Model.ModelInput>,
  options: CatalogOptions = {}
): Layer.Layer<Catalog, InvalidCatalog> => Layer.effect(Catalog, make(models, options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const invalid = (issues: ReadonlyArray<Issue>) => Result.fail(new InvalidCatalog({ issues }))

const decode = Schema.decodeUnknownResult(Model.Model, { errors: "all", onExcessProperty: "error" })

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

const decodeModel = (input: unknown): Result.Result<Model.Model, ReadonlyArray<Issue>> =>
  Result.mapError(decode(input), (error) =>
    formatIssue(error.issue).issues.map(({ message, path = [] }) => ({
      path: path.map((key) => {
        const name = typeof key === "object" ? key.key : key
        return typeof name === "number" ? name : String(name)
      }),
      message
    })))

const under = (index: number, issues: ReadonlyArray<Issue>): ReadonlyArray<Issue> =>
  issues.map(({ message, path }) => ({ path: [index, ...path], message }))

/** An id or alias, and its position. */
interface Named {
  readonly id: string
  readonly path: Issue["path"]
}

/** Finds ids and aliases that several models have, also in models that are invalid by themselves. */
const duplicateIds = (models: ReadonlyArray<unknown>): ReadonlyArray<Issue> => {
  const first = new Map<string, Issue["path"]>()
  return models.flatMap(namesOf).flatMap(({ id, path }): ReadonlyArray<Issue> => {
    const before = first.get(id)
    if (before !== undefined) return [{ path, message: `must be unique, but models${formatPath(before)} is the same` }]
    first.set(id, path)
    return []
  })
}

const namesOf = (model: unknown, index: number): ReadonlyArray<Named> => {
  const aliases = isRecord(model) && Array.isArray(model["aliases"]) ? model["aliases"] : []
  return [
    ...named(model, [index, "id"]),
    ...aliases.flatMap((alias: unknown, position) => named(alias, [index, "aliases", position, "id"]))
  ]
}

const named = (value: unknown, path: Issue["path"]): ReadonlyArray<Named> =>
  isRecord(value) && typeof value["id"] === "string" ? [{ id: value["id"], path }] : []

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null
