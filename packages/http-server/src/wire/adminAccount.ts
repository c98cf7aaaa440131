/** Accounts in the operator API. */
import type { Account } from "@kinora/accounts/Account"
import type { Plan } from "@kinora/accounts/Plan"
import type * as Wire from "@kinora/http-api/AdminAccount"
import { Option } from "effect"

/** Converts an account. */
export const toWire = (
  { balanceCents, createdAt, deletedAt, email, id, plans, status }: Account
): Wire.AdminAccount => ({
  id,
  email,
  status,
  created_at: createdAt,
  deleted_at: deletedAt ?? null,
  balance_usd_cents: balanceCents,
  plans: { studio: planOf(plans.studio), credits: planOf(plans.credits) }
})

/** Converts a plan. */
export const planToWire = <Tier extends string>({ autoRenew, nextTier, periodEnd, tier }: Plan<Tier>) => ({
  tier,
  period_end: periodEnd,
  auto_renew: autoRenew,
  next_tier: nextTier ?? null
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const planOf = <Tier extends string>(plan: Option.Option<Plan<Tier>>) => Option.getOrNull(Option.map(plan, planToWire))
