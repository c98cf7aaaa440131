/** What a job costs in credits (D17). */
import { Option } from "effect"
import type * as Model from "./Model.ts"
import type { Resolved } from "./Parameters.ts"

/** What a price can depend on. */
export type Priced = Pick<Resolved, "mode" | "params">

/**
 * The credits that a job costs. A model that came out of `Catalog` has a price
 * for everything that its schema allows; for another model this may throw.
 */
export const of = (model: Model.Model, job: Priced): number =>
  Option.getOrThrowWith(
    find(model, job),
    () => new Error(`Model ${model.id} has no price for ${JSON.stringify({ mode: job.mode, ...job.params })}`)
  ).credits

/** The row that prices a job: of those whose `params` all match, the one with the most. */
export const find = (model: Model.Model, { mode, params }: Priced): Option.Option<Model.PriceRow> => {
  const values = { ...params, mode }
  let best: Model.PriceRow | undefined
  for (const row of model.price_table) {
    if (agrees(row, values) && (best === undefined || specificity(row) > specificity(best))) best = row
  }
  return Option.fromUndefinedOr(best)
}

/** Whether everything that the row names has the row's value; `mode` is a name like any other. */
export const agrees = (row: Model.PriceRow, values: Model.ParamValues): boolean =>
  Object.entries(row.params).every(([name, value]) => values[name] === value)

/** How many values the row names. */
export const specificity = (row: Model.PriceRow): number => Object.keys(row.params).length
