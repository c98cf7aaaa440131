/** Prices of requests. */
import type { Model } from "../../api/types.ts"

/** The price in credits: the most specific row of the price table that matches the parameters. */
export const priceOf = (
  { price_table }: Pick<Model, "price_table">,
  params: Readonly<Record<string, unknown>>
): number | undefined =>
  (price_table ?? [])
    .filter((row) => Object.entries(row.params).every(([name, value]) => params[name] === value))
    .toSorted((a, b) => Object.keys(b.params).length - Object.keys(a.params).length)[0]?.credits

/** The lowest price of the model, and whether there are higher ones. */
export const lowestPrice = (
  { price_table }: Pick<Model, "price_table">
): { readonly credits: number; readonly varies: boolean } | undefined => {
  const prices = (price_table ?? []).map(({ credits }) => credits)
  return prices.length === 0
    ? undefined
    : { credits: Math.min(...prices), varies: Math.max(...prices) > Math.min(...prices) }
}
