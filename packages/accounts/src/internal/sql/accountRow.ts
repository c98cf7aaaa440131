/** Accounts with their plans as rows. */
import { Rows } from "@kinora/persistence"
import { type DateTime, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type Account, AccountId, AccountStatus } from "../../Account.ts"
import { CreditsTier, type Plan, StudioTier } from "../../Plan.ts"

/** The columns of `accountFields`, selected from a table that is named `account` and joined by `planJoins`. */
export const accountColumns = (sql: SqlClient.SqlClient) =>
  sql.literal(`
    account.id, account.email, account.status, account.created_at, account.deleted_at, account.balance_cents::float8 AS balance_cents,
    studio.tier AS studio_tier, studio.period_end AS studio_period_end, studio.auto_renew AS studio_auto_renew,
    studio.next_tier AS studio_next_tier,
    credits.tier AS credits_tier, credits.period_end AS credits_period_end, credits.auto_renew AS credits_auto_renew,
    credits.next_tier AS credits_next_tier
  `)

/** Joins the plan of each group to `account`. */
export const planJoins = (sql: SqlClient.SqlClient) =>
  sql.literal(`
    LEFT JOIN accounts_plan studio ON studio.account = account.id AND studio.plan_group = 'studio'
    LEFT JOIN accounts_plan credits ON credits.account = account.id AND credits.plan_group = 'credits'
  `)

/** The fields of a row. The columns of a plan are null if the account has none. */
export const accountFields = {
  id: Schema.String,
  email: Schema.String,
  status: AccountStatus,
  created_at: Rows.timestamptz,
  deleted_at: Schema.NullOr(Rows.timestamptz),
  balance_cents: Schema.Int,
  studio_tier: Schema.NullOr(StudioTier),
  studio_period_end: Schema.NullOr(Rows.timestamptz),
  studio_auto_renew: Schema.NullOr(Schema.Boolean),
  studio_next_tier: Schema.NullOr(StudioTier),
  credits_tier: Schema.NullOr(CreditsTier),
  credits_period_end: Schema.NullOr(Rows.timestamptz),
  credits_auto_renew: Schema.NullOr(Schema.Boolean),
  credits_next_tier: Schema.NullOr(CreditsTier)
}

const AccountRow = Schema.Struct(accountFields)

/** Decodes rows of accounts. */
export const decodeAccounts = Rows.decodeAll(AccountRow)

/** Returns the account of a row. */
export const toAccount = (row: typeof AccountRow.Type): Account => ({
  id: AccountId.fromUuid(row.id),
  email: row.email,
  status: row.status,
  plans: {
    studio: toPlan(row.studio_tier, row.studio_period_end, row.studio_auto_renew, row.studio_next_tier),
    credits: toPlan(row.credits_tier, row.credits_period_end, row.credits_auto_renew, row.credits_next_tier)
  },
  balanceCents: row.balance_cents,
  createdAt: row.created_at,
  ...(row.deleted_at === null ? {} : { deletedAt: row.deleted_at })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const toPlan = <Tier extends string>(
  tier: Tier | null,
  periodEnd: DateTime.Utc | null,
  autoRenew: boolean | null,
  nextTier: Tier | null
): Option.Option<Plan<Tier>> =>
  tier === null || periodEnd === null || autoRenew === null
    ? Option.none()
    : Option.some({ tier, periodEnd, autoRenew, ...(nextTier === null ? {} : { nextTier }) })
