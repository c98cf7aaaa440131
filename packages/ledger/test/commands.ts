/** Commands that the contract's suites share. */
import { DateTime } from "effect"
import type { GrantCommand } from "../src/Grant.ts"

export const noon = DateTime.makeUnsafe("2026-11-20T12:00:00.000Z")
export const after = (parts: Partial<DateTime.DateTime.PartsForMath>) => DateTime.add(noon, parts)

let accounts = 0
/** An account that no other test uses. */
export const newAccount = () => `acct-${++accounts}`

export const grantOf = (account: string, credits: number, options: Partial<GrantCommand> = {}): GrantCommand => ({
  account,
  reference: "period-1",
  kind: "plan",
  credits,
  expiresAt: after({ days: 30 }),
  at: noon,
  ...options
})

export const chargeOf = (
  account: string,
  reference: string,
  credits: number,
  options: { at?: DateTime.Utc; imagesOnlyAllowed?: boolean } = {}
) => ({
  account,
  reference,
  amount: { _tag: "Credits", credits, imagesOnlyAllowed: options.imagesOnlyAllowed ?? false } as const,
  at: options.at ?? noon
})

export const quotaChargeOf = (account: string, reference: string, limit: number, at = noon, kind = "image") => ({
  account,
  reference,
  amount: { _tag: "Quota", kind, limit } as const,
  at
})

export const times = (count: number) => Array.from({ length: count }, (_, index) => index)
