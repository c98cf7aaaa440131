/** Prices of jobs, in credits. */
import { Option } from "effect"
import type * as Model from "./Model.ts"
import type { Resolved } from "./Parameters.ts"

/** The properties of a job that its price depends on. */
export type Priced = Pick<Resolved, "mode" | "params">

/**
 * Returns the price of a job in credits. `Catalog` guarantees a price for every job that
 * the parameters of a model allow; for a model that was not checked, this can throw.
 */
export const of = (model: Model.Model, job: Priced): number =>
  Option.getOrThrowWith(
    find(model, job),
    () => new Error(`Model ${model.id} has no price for ${JSON.stringify({ mode: job.mode, ...job.params })}`)
  ).credits

/** Returns the row that prices a job: of the matching rows, the one with the most `params`. */
export const find = (model: Model.Model, { mode, params }: Priced): Option.Option<Model.PriceRow> => {
  const values = { ...params, mode }
  let best: Model.PriceRow | undefined
  for (const row of model.price_table) {
    if (agrees(row, values) && (best === undefined || specificity(row) > specificity(best))) best = row
  }
  return Option.fromUndefinedOr(best)
}

/** Returns whether all `params` of the row have the same value in `values`, which includes `mode`. */
export const agrees = (row: Model.PriceRow, values: Model.ParamValues): boolean =>
  Object.entries(row.params).every(([name, value]) => values[name] === value)

/** Returns the number of `params` of the row. */
export const specificity = (row: Model.PriceRow): number => Object.keys(row.params).length
