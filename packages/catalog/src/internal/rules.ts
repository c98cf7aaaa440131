/** Rules of a model that involve several fields. */
import { Duration, Option, Result } from "effect"
import type { Issue } from "../Issue.ts"
import * as Model from "../Model.ts"
import { reservedNames } from "../Parameters.ts"
import { priceIssues } from "./prices.ts"

/** Types of the parameters that clients can set, by name. */
type ClientParams = Readonly<Record<string, Model.ParamSchema["type"]>>

/** Returns the problems of a model whose fields are valid by themselves. */
export const modelIssues = (model: Model.Model, params?: ClientParams): ReadonlyArray<Issue> => {
  const issues = [
    ...kindIssues(model),
    ...timeIssues(model),
    ...paramsIssues(model),
    ...aliasIssues(model),
    ...params === undefined ? [] : clientIssues(model, params)
  ]
  // Prices can only be checked against valid parameters.
  return issues.length > 0 ? issues : priceIssues(model)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const issue = (path: Issue["path"], message: string): Issue => ({ path, message })

const kindIssues = (model: Model.Model): ReadonlyArray<Issue> => {
  const takesImages = model.capabilities.some((mode) => Model.modes[mode].takesImages)
  return [
    ...model.capabilities.flatMap((mode, index) =>
      Model.modes[mode].kind === model.kind
        ? []
        : [issue(["capabilities", index], `must be a mode of kind ${model.kind}`)]
    ),
    ...model.output_formats.flatMap((format, index) =>
      format.startsWith(`${model.kind}/`)
        ? []
        : [issue(["output_formats", index], `must be a media type ${model.kind}/…`)]
    ),
    ...takesImages && model.max_reference_images === 0
      ? [issue(["max_reference_images"], "must be at least 1, since a mode requires input images")]
      : [],
    ...!takesImages && model.max_reference_images > 0
      ? [issue(["max_reference_images"], "must be 0, since no mode accepts input images")]
      : []
  ]
}

const timeIssues = (model: Model.Model): ReadonlyArray<Issue> =>
  Duration.isFinite(model.time_limit) && Duration.toMillis(model.time_limit) > 0
    ? []
    : [issue(["time_limit"], "must be finite and longer than 0")]

const paramsIssues = (model: Model.Model): ReadonlyArray<Issue> =>
  model.params_schema.flatMap((param, index) => {
    const at = (name: string, message: string) => issue(["params_schema", index, name], message)
    const first = model.params_schema.findIndex(({ name }) => name === param.name)
    return [
      ...reservedNames.includes(param.name) ? [at("name", `must not be ${param.name}, which every job has`)] : [],
      ...first < index ? [at("name", `must be unique, but params_schema[${first}] has the same`)] : [],
      ...boundIssues(param, at),
      ...valuesIssues(param).map(({ message, path }) => issue(["params_schema", index, ...path], message))
    ]
  })

const aliasIssues = (model: Model.Model): ReadonlyArray<Issue> =>
  model.aliases.flatMap(({ defaults }, index) =>
    Object.entries(defaults).flatMap(([name, value]) =>
      problems(
        ["aliases", index, "defaults", name],
        Option.match(Model.param(model, name), {
          onNone: () => Result.fail("must be a parameter of the model"),
          onSome: (param) => Model.checkValue(param, value)
        })
      )
    )
  )

/** Finds parameters whose values every request would be rejected for. */
const clientIssues = (model: Model.Model, params: ClientParams): ReadonlyArray<Issue> =>
  model.params_schema.flatMap(({ name, type }, index) => {
    const expected = Object.hasOwn(params, name) ? params[name] : undefined
    if (expected === type || reservedNames.includes(name)) return []
    return expected === undefined
      ? [issue(
        ["params_schema", index, "name"],
        `must be one of the parameters that clients can set: ${Object.keys(params).join(", ")}`
      )]
      : [issue(["params_schema", index, "type"], `must be ${expected}, since clients send ${name} as ${expected}`)]
  })

const boundIssues = (
  param: Model.ParamSchema,
  at: (name: string, message: string) => Issue
): ReadonlyArray<Issue> => {
  const { max, min, type, values } = param
  if (type !== "int") {
    return [
      ...min === undefined ? [] : [at("min", "must be absent, since only an int has it")],
      ...max === undefined ? [] : [at("max", "must be absent, since only an int has it")],
      ...type === "string" && values === undefined ? [at("values", "must be given for a string")] : []
    ]
  }
  return [
    ...values === undefined && min === undefined ? [at("min", "must be given for an int without values")] : [],
    ...values === undefined && max === undefined ? [at("max", "must be given for an int without values")] : [],
    ...min !== undefined && max !== undefined && min > max ? [at("max", "must not be below min")] : []
  ]
}

const valuesIssues = (param: Model.ParamSchema): ReadonlyArray<Issue> => {
  // Values are checked against the bounds, not against the list that contains them.
  const { default: initial, values = [], ...bounds } = param
  return [
    ...values.flatMap((value, index) => problems(["values", index], Model.checkValue(bounds, value))),
    ...values.flatMap((value, index) =>
      values.indexOf(value) < index ? [issue(["values", index], "must not be listed twice")] : []
    ),
    ...initial === undefined ? [] : problems(["default"], Model.checkValue(param, initial))
  ]
}

const problems = (path: Issue["path"], result: Result.Result<unknown, string>): ReadonlyArray<Issue> =>
  Result.isFailure(result) ? [issue(path, result.failure)] : []
