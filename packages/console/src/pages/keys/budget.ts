/** Budgets of API keys in forms. */

/** The names of the limits, with their labels. */
export const limits = [
  ["credits_per_day", "Credits per day"],
  ["credits_per_month", "Credits per month"],
  ["jobs_per_day", "Jobs per day"],
  ["jobs_per_month", "Jobs per month"]
] as const

type Name = typeof limits[number][0]

/** The limits that are set. Days and months are UTC. */
export type Budget = { readonly [K in Name]?: number }

/** Returns the limits of a key that are set. */
export const budgetOf = (budget: Readonly<Record<Name, number | null>>): Budget =>
  Object.fromEntries(limits.flatMap(([name]) => budget[name] === null ? [] : [[name, budget[name]]]))

/** Returns the limits to change, so that exactly those of `budget` are set. */
export const changeOf = (before: Readonly<Record<Name, number | null>>, budget: Budget) =>
  Object.fromEntries(
    limits.flatMap(([name]) => {
      const limit = budget[name] ?? null
      return limit === before[name] ? [] : [[name, limit]]
    })
  )
