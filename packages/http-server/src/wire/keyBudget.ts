/** Budgets of API keys in the API. */
import type { KeyBudget } from "@kinora/accounts/KeyBudget"
import type { KeyBudgetRequest } from "@kinora/http-api/AdminAccount"
import { Option } from "effect"

/** The names of the limits. */
export const names = {
  creditsPerDay: "credits_per_day",
  creditsPerMonth: "credits_per_month",
  jobsPerDay: "jobs_per_day",
  jobsPerMonth: "jobs_per_month"
} as const satisfies Readonly<Record<keyof KeyBudget, string>>

/** Converts a budget. */
export const toWire = ({ creditsPerDay, creditsPerMonth, jobsPerDay, jobsPerMonth }: KeyBudget) => ({
  credits_per_day: Option.getOrNull(creditsPerDay),
  credits_per_month: Option.getOrNull(creditsPerMonth),
  jobs_per_day: Option.getOrNull(jobsPerDay),
  jobs_per_month: Option.getOrNull(jobsPerMonth)
})

/** Returns the limits that a request sets. Absent ones are missing. */
export const fromWire = (
  { credits_per_day, credits_per_month, jobs_per_day, jobs_per_month }: KeyBudgetRequest
): Partial<KeyBudget> => ({
  ...credits_per_day !== undefined && { creditsPerDay: Option.fromNullOr(credits_per_day) },
  ...credits_per_month !== undefined && { creditsPerMonth: Option.fromNullOr(credits_per_month) },
  ...jobs_per_day !== undefined && { jobsPerDay: Option.fromNullOr(jobs_per_day) },
  ...jobs_per_month !== undefined && { jobsPerMonth: Option.fromNullOr(jobs_per_month) }
})
