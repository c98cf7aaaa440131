/** The account of an API key: both plan groups, their limits, and the download limits. */
import { Schema } from "effect"
import { field, flag, int, nullable, object, text, time } from "./internal/fields.ts"
import { keyUse } from "./internal/keyUse.ts"
import { DateTime, Int64 } from "./Scalar.ts"

/** The use of a daily quota. */
export const QuotaCount = object("QuotaCount", "The use of a daily quota.", {
  limit: int("Jobs per UTC day."),
  used: int("Jobs of the current day."),
  remaining: int("Jobs left on the current day.")
})

/** The daily quota of an active Studio plan. */
export const StudioQuota = object("StudioQuota", "The daily quota of an active Studio plan.", {
  day: text("The UTC day of the counters, YYYY-MM-DD."),
  resets_at: time("When the counters reset: the next 00:00 UTC."),
  video: field(QuotaCount, "Video jobs."),
  image: field(QuotaCount, "Image jobs.")
})

const plan = {
  active: flag("Whether the account has an active plan of this group."),
  tier: nullable(Schema.String, "The tier of the active plan."),
  period_end: nullable(DateTime, "When the period of the active plan ends."),
  auto_renew: flag("Whether the plan renews from the balance at the end of its period.")
}

const limits = {
  concurrency: int("The maximum number of running jobs. Further jobs wait."),
  create_rpm: int("The maximum number of job creations per minute.")
}

/** The plan group with a daily quota. */
export const StudioPlan = object("StudioPlan", "The plan group with a daily quota.", {
  ...plan,
  quota: nullable(StudioQuota, "The daily quota; `null` if no Studio plan is active."),
  ...limits
})

/** Credits that were granted together and expire together. */
export const CreditLot = object("CreditLot", "Credits that were granted together and expire together.", {
  kind: field(Schema.Literals(["plan", "addon", "trial", "refund"]), "Where the credits come from."),
  remaining: int("The credits that are left."),
  expires_at: time("When the credits expire."),
  images_only: flag("Whether the credits pay for image jobs only."),
  watermark: flag("Whether the credits are trial credits. Jobs of the API never use these.")
})

/** The plan group with a balance of credits. */
export const CreditsPlan = object("CreditsPlan", "The plan group with a balance of credits.", {
  ...plan,
  credits_remaining: int("The credits that jobs can spend, whether or not a plan is active."),
  lots: nullable(Schema.Array(CreditLot), "The lots with remaining credits, in the order in which jobs use them."),
  ...limits
})

/** The download limits of an account. */
export const DownloadLimits = object("DownloadLimits", "The download limits of the account.", {
  user_gib_per_day: int("GiB that the account can download per UTC day."),
  used_bytes_today: nullable(int("Bytes."), "Bytes downloaded today; `null` if the counter is unavailable."),
  job_download_multiple: int("How many times its size each result can be downloaded per UTC day.")
})

/** The budget of an API key, and what is used of it. */
export const KeyBudget = object("KeyBudget", "The budget of an API key, and what is used of it.", {
  credits_per_day: nullable(Int64, "Credits per UTC day; `null`: no limit."),
  credits_per_month: nullable(Int64, "Credits per UTC month; `null`: no limit."),
  jobs_per_day: nullable(Int64, "Jobs per UTC day; `null`: no limit."),
  jobs_per_month: nullable(Int64, "Jobs per UTC month; `null`: no limit."),
  used: field(
    Schema.Struct({ day: keyUse("Today, in UTC."), month: keyUse("In this month, in UTC.") }),
    "What the key, and those that it replaced, have used."
  )
})

/** The account of the API key. */
export const Account = object("Account", "The account of the API key.", {
  user: field(
    Schema.Struct({
      id: text("The id of the account, `acct_…`."),
      email: text("The e-mail address of the account.")
    }),
    "The owner of the account."
  ),
  balance_usd_cents: int("The balance in US cents, from which plans renew."),
  plans: field(
    Schema.Struct({
      studio: field(StudioPlan, "The Studio group."),
      credits: field(CreditsPlan, "The Credits group.")
    }),
    "Both plan groups."
  ),
  api: field(
    Schema.Struct({
      key_rpm_cap: int("Requests per minute of one API key, over all endpoints."),
      key_budget: nullable(KeyBudget, "The budget of the API key of the request; `null` for a key without limits.")
    }),
    "Limits of the API."
  ),
  results: field(
    Schema.Struct({
      api_ttl_hours: int("Hours after completion until a result expires."),
      download: field(DownloadLimits, "The download limits.")
    }),
    "Limits of results."
  )
})
/** See the schema of the same name. */
export type Account = typeof Account.Type
