/** Budgets of API keys in commands. */
import { type AdminKey, budgetLimitMax, type KeyBudgetRequest } from "@kinora/http-api/AdminAccount"
import { Effect, Option, Schema, SchemaGetter } from "effect"
import { CliError, Flag } from "effect/cli"

/** A limit, or `null` for none. */
const Limit = Schema.String.check(
  Schema.isPattern(/^(none|\d{1,13})$/, { expected: "a whole number or none" })
).pipe(
  Schema.decodeTo(Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: budgetLimitMax }))), {
    decode: SchemaGetter.transform((text) => text === "none" ? null : Number(text)),
    encode: SchemaGetter.transform((limit) => limit === null ? "none" : String(limit))
  })
)

/** The flags of the limits. */
export const budgetFlags = {
  creditsPerDay: limit("credits-per-day", "Credits that its jobs can cost per UTC day"),
  creditsPerMonth: limit("credits-per-month", "Credits that its jobs can cost per UTC month"),
  jobsPerDay: limit("jobs-per-day", "Jobs per UTC day"),
  jobsPerMonth: limit("jobs-per-month", "Jobs per UTC month")
}

/** The values of `budgetFlags`. */
type Limits = { readonly [Name in keyof typeof budgetFlags]: Option.Option<number | null> }

/** Rejects a command line that sets no limit. */
export const requireLimit = (flags: Limits): Effect.Effect<void, CliError.ValidationError> =>
  Object.keys(budgetOf(flags)).length > 0 ? Effect.void : Effect.fail(
    new CliError.ValidationError({
      message: "No limit is given. Add --credits-per-day, --credits-per-month, --jobs-per-day or --jobs-per-month."
    })
  )

/** Returns the limits that the flags set. */
export const budgetOf = (flags: Limits): KeyBudgetRequest => ({
  ...Option.isSome(flags.creditsPerDay) && { credits_per_day: flags.creditsPerDay.value },
  ...Option.isSome(flags.creditsPerMonth) && { credits_per_month: flags.creditsPerMonth.value },
  ...Option.isSome(flags.jobsPerDay) && { jobs_per_day: flags.jobsPerDay.value },
  ...Option.isSome(flags.jobsPerMonth) && { jobs_per_month: flags.jobsPerMonth.value }
})

/** Returns the limits of a key with what is used of them, such as `8 of 100 credits a day`. */
export const limitsOf = (
  { budget, used }: Pick<typeof AdminKey.Type, "budget" | "used">
): ReadonlyArray<string> => {
  const limits = [
    [budget.credits_per_day, used?.day.credits, "credits a day"],
    [budget.credits_per_month, used?.month.credits, "credits a month"],
    [budget.jobs_per_day, used?.day.jobs, "jobs a day"],
    [budget.jobs_per_month, used?.month.jobs, "jobs a month"]
  ] as const
  return limits.flatMap(([limit, used = 0, unit]) => limit === null ? [] : [`${used} of ${limit} ${unit}`])
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

function limit(name: string, description: string) {
  return Flag.String(name).pipe(
    Flag.withDescription(`${description}; none: no limit`),
    Flag.withSchema(Limit),
    Flag.optional
  )
}
