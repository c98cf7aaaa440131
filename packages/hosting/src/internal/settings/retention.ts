/** How long rows are kept, from the settings. */
import { Duration } from "effect"
import type { Values } from "./definitions.ts"

/** Returns the time for which rows of each table are kept. */
export const retentionOf = (values: Values) => ({
  jobs: daysOf(values.jobs_ttl_days),
  usage: daysOf(values.usage_ttl_days),
  revokedKeys: daysOf(values.revoked_keys_ttl_days),
  audit: daysOf(values.audit_ttl_days),
  failedSignIns: daysOf(values.failed_sign_ins_ttl_days),
  deletedAccounts: daysOf(values.deleted_accounts_ttl_days),
  payments: daysOf(values.payments_ttl_days)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const daysOf = (days: number | "off"): Duration.Duration => days === "off" ? Duration.infinity : Duration.days(days)
