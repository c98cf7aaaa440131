/** Accounts and their status. */
import { TypeId } from "@kinora/persistence"
import { type DateTime, Schema } from "effect"
import type { Plans } from "./Plan.ts"

/** Codec and constructors of account ids, `acct_…`. */
export const AccountId = TypeId.define("acct", "AccountId")
/** Type of `AccountId`. */
export type AccountId = TypeId.Id<"AccountId">

/** Status of an account. Requests of a `suspended` account are rejected with `account_suspended`. */
export const AccountStatus = Schema.Literals(["active", "suspended"])
/** Type of `AccountStatus`. */
export type AccountStatus = typeof AccountStatus.Type

/** An account. */
export interface Account {
  readonly id: AccountId
  /** Email address as given at creation. */
  readonly email: string
  readonly status: AccountStatus
  /** Plans as they were set. A plan may have ended; `Plan.active` checks that. */
  readonly plans: Plans
  /** Balance for renewals, in US cents. Never negative. */
  readonly balanceCents: number
  readonly createdAt: DateTime.Utc
}

/** Which accounts to list, and how many. */
export interface AccountSearch {
  /** Lists the account with this id, or accounts whose email address contains this text, ignoring letter case. */
  readonly search?: string | undefined
  readonly status?: AccountStatus | undefined
  /** Continues after this account, the last one of the page before. */
  readonly after?: AccountId | undefined
  readonly limit: number
}

/** Maximum length of an email address (RFC 5321). */
export const emailCharsMax = 254

/** Returns whether `text` has the form of an email address. */
export const isEmail = (text: string): boolean =>
  text.length <= emailCharsMax && emailPattern.test(text) && text.isWellFormed()

/** Returns whether an email address can contain `text`. */
export const isPartOfEmail = (text: string): boolean => /^[^\s\p{Cc}]*$/u.test(text) && text.isWellFormed()

/** Returns the key by which email addresses are unique: the address in lower case. */
export const emailKey = (email: string): string => email.toLowerCase()

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const emailPattern = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u
