/** The account of an API key on the wire. */
import { PlanTable } from "@kinora/accounts"
import type { Account } from "@kinora/accounts/Account"
import type { BudgetUse } from "@kinora/accounts/KeySpendings"
import * as Plan from "@kinora/accounts/Plan"
import { CreditLots } from "@kinora/generations"
import type * as Wire from "@kinora/http-api/Account"
import type { Balances } from "@kinora/ledger/Ledger"
import { DateTime, Duration, Option } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as KeyBudget from "./keyBudget.ts"

/** The parts of an account report. */
export interface Facts {
  readonly account: Account
  readonly balances: Balances
  /** `None` if the key of the request has no limits. */
  readonly keyBudget: Option.Option<BudgetUse>
  /** `undefined` if the counter is unavailable. */
  readonly bytesToday: number | undefined
  readonly now: DateTime.Utc
}

/** Converts an account to its encoded form. */
export const toWire = (facts: Facts, options: HttpServerOptions): typeof Wire.Account.Encoded => ({
  user: { id: facts.account.id, email: facts.account.email },
  balance_usd_cents: facts.account.balanceCents,
  plans: { studio: studioOf(facts, options), credits: creditsOf(facts, options) },
  api: {
    key_rpm_cap: options.keyRequestsPerMinute,
    key_budget: Option.match(facts.keyBudget, {
      onNone: () => null,
      onSome: ({ budget, used }) => ({ ...KeyBudget.toWire(budget), used })
    })
  },
  results: {
    api_ttl_hours: Math.floor(Duration.toHours(options.resultTtl)),
    download: {
      user_gib_per_day: Math.floor(options.downloadBytesPerDay / 1024 ** 3),
      used_bytes_today: facts.bytesToday ?? null,
      job_download_multiple: options.resultDownloadMultiple
    }
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const studioOf = (
  { account: { plans: { studio } }, balances: { day, quotaUsed, resetsAt }, now }: Facts,
  { plans }: HttpServerOptions
): typeof Wire.StudioPlan.Encoded => ({
  ...planOf(studio, now),
  quota: Option.match(PlanTable.dailyQuota(plans, studio, now), {
    onNone: () => null,
    onSome: ({ images, videos }) => ({
      day,
      resets_at: DateTime.formatIso(resetsAt),
      video: countOf(videos, quotaUsed.get("video") ?? 0),
      image: countOf(images, quotaUsed.get("image") ?? 0)
    })
  }),
  ...limitsOf(PlanTable.limits(plans, "studio", studio, now))
})

const creditsOf = (
  { account: { plans: { credits } }, balances, now }: Facts,
  { plans }: HttpServerOptions
): typeof Wire.CreditsPlan.Encoded => ({
  ...planOf(credits, now),
  credits_remaining: balances.credits,
  lots: balances.lots.map((lot) => ({
    kind: CreditLots.kindOf(lot),
    remaining: lot.remaining,
    expires_at: DateTime.formatIso(lot.expiresAt),
    images_only: CreditLots.isForImages(lot),
    watermark: CreditLots.hasWatermark(lot.labels)
  })),
  ...limitsOf(PlanTable.limits(plans, "credits", credits, now))
})

/** Returns the plan as in a response. It is inactive if its period has ended. */
const planOf = (plan: Option.Option<Plan.Plan<string>>, now: DateTime.Utc) =>
  Option.match(Plan.active(plan, now), {
    onNone: () => ({ active: false, tier: null, period_end: null, auto_renew: false }),
    onSome: ({ autoRenew, periodEnd, tier }) => ({
      active: true,
      tier,
      period_end: DateTime.formatIso(periodEnd),
      auto_renew: autoRenew
    })
  })

/** Usage can exceed the limit after the plan was set to a smaller tier. */
const countOf = (limit: number, used: number) => ({ limit, used, remaining: Math.max(0, limit - used) })

const limitsOf = ({ concurrency, createRpm }: PlanTable.Limits) => ({ concurrency, create_rpm: createRpm })
