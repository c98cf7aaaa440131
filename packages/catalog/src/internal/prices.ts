/** Checks that a price table has exactly one price for every job that the parameters of a model allow. */
import { Option, Result } from "effect"
import type { Issue } from "../Issue.ts"
import * as Model from "../Model.ts"
import * as Price from "../Price.ts"

/** Maximum number of combinations that are checked for a model. */
const combinationsMax = 10_000

/** Maximum number of combinations that are reported for a model. The last issue states how many more exist. */
const namedMax = 10

/** Returns the problems of a price table. The parameters of the model must be valid. */
export const priceIssues = (model: Model.Model): ReadonlyArray<Issue> => {
  const issues = model.price_table.flatMap((row, index) => rowIssues(model, row, index))
  return issues.length > 0 ? issues : coverageIssues(model)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const rowIssues = (model: Model.Model, row: Model.PriceRow, index: number): ReadonlyArray<Issue> =>
  Object.entries(row.params).flatMap(([name, value]): ReadonlyArray<Issue> => {
    const message = name === "mode" ? modeProblem(model, value) : paramProblem(model, name, value)
    return message === undefined ? [] : [{ path: ["price_table", index, "params", name], message }]
  })

const modeProblem = ({ capabilities }: Model.Model, value: Model.ParamValue): string | undefined =>
  capabilities.some((mode) => mode === value) ? undefined : `must be one of ${capabilities.join(", ")}`

const paramProblem = (model: Model.Model, name: string, value: Model.ParamValue): string | undefined =>
  Option.match(Model.param(model, name), {
    onNone: () => "must be a parameter of the model",
    onSome: (param) => Option.getOrUndefined(Result.getFailure(Model.checkValue(param, value)))
  })

const coverageIssues = (model: Model.Model): ReadonlyArray<Issue> => {
  const dimensions = dimensionsOf(model)
  const count = dimensions.reduce((product, { values }) => product * values.length, 1)
  if (count > combinationsMax) {
    return [at(`must distinguish at most ${combinationsMax} combinations of parameters, but distinguishes ${count}`)]
  }
  const issues = combinationsOf(dimensions).flatMap((combination) => combinationIssues(model, combination))
  return issues.length <= namedMax
    ? issues
    : [...issues.slice(0, namedMax), at(`has ${issues.length - namedMax} more combinations without a unique price`)]
}

const at = (message: string): Issue => ({ path: ["price_table"], message })

/** Values by name, including `mode`. */
type Combination = Readonly<Record<string, Model.ParamValue>>

const combinationIssues = (model: Model.Model, combination: Combination): ReadonlyArray<Issue> => {
  const rows = model.price_table.filter((row) => Price.agrees(row, combination))
  const most = Math.max(...rows.map(Price.specificity))
  const best = rows.filter((row) => Price.specificity(row) === most)
  if (best.length === 0) return [at(`must have a row for ${describe(combination)}`)]
  return best.length === 1
    ? []
    : [at(`must not have ${best.length} equally specific rows for ${describe(combination)}`)]
}

const describe = (combination: Combination): string => {
  const text = Object.entries(combination).map(([name, value]) => `${name}=${value}`).join(", ")
  return text === "" ? "every job" : text
}

/** A parameter that the price depends on, with representative values. `undefined` stands for an absent parameter. */
interface Dimension {
  readonly name: string
  readonly values: ReadonlyArray<Model.ParamValue | undefined>
}

const dimensionsOf = (model: Model.Model): ReadonlyArray<Dimension> => {
  const pricedBy = (name: string) =>
    new Set(model.price_table.map(({ params }) => params[name]).filter((value) => value !== undefined))
  const mode: ReadonlyArray<Dimension> = pricedBy("mode").size === 0
    ? []
    : [{ name: "mode", values: model.capabilities }]
  const params = model.params_schema.flatMap((param): ReadonlyArray<Dimension> => {
    const priced = pricedBy(param.name)
    if (priced.size === 0) return []
    const absent = param.default === undefined ? [undefined] : []
    return [{ name: param.name, values: [...valuesOf(param, priced), ...absent] }]
  })
  return [...mode, ...params]
}

/** Returns all values. Of a range: the values with their own row, and one without. */
const valuesOf = (
  { max = 0, min = 0, type, values }: Model.ParamSchema,
  priced: ReadonlySet<Model.ParamValue>
): ReadonlyArray<Model.ParamValue> => {
  if (values !== undefined) return values
  if (type === "boolean") return [false, true]
  let other = min
  while (priced.has(other)) other++
  return other <= max ? [...priced, other] : [...priced]
}

const combinationsOf = (dimensions: ReadonlyArray<Dimension>): ReadonlyArray<Combination> =>
  dimensions.reduce<ReadonlyArray<Combination>>(
    (combinations, { name, values }) =>
      combinations.flatMap((combination) =>
        values.map((value) => value === undefined ? combination : { ...combination, [name]: value })
      ),
    [{}]
  )
