/** Who is charged: an account, and whether it may use the service. */
import { TypeId } from "@kinora/persistence"
import { type DateTime, Schema } from "effect"
import type { Plans } from "./Plan.ts"

/** Ids of accounts, `acct_…` (D2). */
export const AccountId = TypeId.define("acct", "AccountId")
/** See the value of the same name. */
export type AccountId = TypeId.Id<"AccountId">

/** A `suspended` account is known but refused: 403 `account_suspended` (D40). */
export const AccountStatus = Schema.Literals(["active", "suspended"])
/** See the schema of the same name. */
export type AccountStatus = typeof AccountStatus.Type

/** One account. */
export interface Account {
  readonly id: AccountId
  /** As it was given when the account was created. */
  readonly email: string
  readonly status: AccountStatus
  /** As they were set; a plan may have ended since: ask `Plan.active`. */
  readonly plans: Plans
  /** What plans renew from, in US cents; never below 0. */
  readonly balanceCents: number
  readonly createdAt: DateTime.Utc
}

/** Longest address that mail can be sent to, RFC 5321. */
export const emailCharsMax = 254

/** Whether `text` can be an account's e-mail address. Only mail that arrives proves more. */
export const isEmail = (text: string): boolean =>
  text.length <= emailCharsMax && emailPattern.test(text) && text.isWellFormed()

/** What two addresses of one account have in common: an account's address is unique, whatever its letter case. */
export const emailKey = (email: string): string => email.toLowerCase()

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const emailPattern = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u
