/** What an account has: both plan groups side by side, their limits, and what it may download. */
import { Schema } from "effect"
import { DateTime, Int64 } from "./Scalar.ts"

/** How much of a daily quota is used. */
export const QuotaCount = Schema.Struct({
  limit: Int64,
  used: Int64,
  remaining: Int64
}).annotate({ identifier: "QuotaCount" })

/** The daily quota of an active Studio plan. */
export const StudioQuota = Schema.Struct({
  /** UTC day of the counters, YYYY-MM-DD. */
  day: Schema.String,
  /** The next 00:00 UTC. */
  resets_at: DateTime,
  video: QuotaCount,
  image: QuotaCount
}).annotate({ identifier: "StudioQuota" })

const plan = {
  active: Schema.Boolean,
  tier: Schema.NullOr(Schema.String),
  period_end: Schema.NullOr(DateTime),
  auto_renew: Schema.Boolean
}

const limits = {
  /** Jobs running at once; more wait. */
  concurrency: Int64,
  /** Job creations per minute with this group. */
  create_rpm: Int64
}

/** The group with a daily quota. */
export const StudioPlan = Schema.Struct({
  ...plan,
  /** `null` when no Studio plan is active. */
  quota: Schema.NullOr(StudioQuota),
  ...limits
}).annotate({ identifier: "StudioPlan" })

/** Credits that were given together and expire together. */
export const CreditLot = Schema.Struct({
  kind: Schema.Literals(["plan", "addon", "trial", "refund"]),
  remaining: Int64,
  expires_at: DateTime,
  images_only: Schema.Boolean,
  /** Trial lots carry a watermark and are never used by API jobs. */
  watermark: Schema.Boolean
}).annotate({ identifier: "CreditLot" })

/** The group with a balance of credits. */
export const CreditsPlan = Schema.Struct({
  ...plan,
  /** Credits that jobs can spend, whether or not a plan is active. */
  credits_remaining: Int64,
  lots: Schema.NullOr(Schema.Array(CreditLot)),
  ...limits
}).annotate({ identifier: "CreditsPlan" })

/** What of its results the account may download. */
export const DownloadLimits = Schema.Struct({
  /** GiB per UTC day. */
  user_gib_per_day: Int64,
  /** `null` when the counter is unavailable. */
  used_bytes_today: Schema.NullOr(Int64),
  /** Each result can be downloaded this many times its size per UTC day. */
  job_download_multiple: Int64
}).annotate({ identifier: "DownloadLimits" })

/** The account of the API key. */
export const Account = Schema.Struct({
  user: Schema.Struct({ id: Schema.String, email: Schema.String }),
  balance_usd_cents: Int64,
  plans: Schema.Struct({ studio: StudioPlan, credits: CreditsPlan }),
  api: Schema.Struct({
    /** Requests per minute of one API key, all endpoints together. */
    key_rpm_cap: Int64
  }),
  results: Schema.Struct({
    /** Hours after completion during which a result can be downloaded. */
    api_ttl_hours: Int64,
    download: DownloadLimits
  })
}).annotate({ identifier: "Account" })
/** See the schema of the same name. */
export type Account = typeof Account.Type
