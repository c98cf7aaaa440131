/** Accounts and their status. */
import { TypeId } from "@kinora/persistence"
import { type DateTime, Schema } from "effect"
import type { Plans } from "./Plan.ts"

/** Codec and constructors of account ids, `acct_…`. */
export const AccountId = TypeId.define("acct", "AccountId")
/** Type of `AccountId`. */
export type AccountId = TypeId.Id<"AccountId">

/**
 * Status of an account. Requests of a `suspended` account are rejected with `account_suspended`. A `deleted` account has no
 * keys and no plans, and can be restored until it is `erased`, when it loses its personal data.
 */
export const AccountStatus = Schema.Literals(["active", "suspended", "deleted", "erased"])
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
  /** When a deleted or erased account was deleted. */
  readonly deletedAt?: DateTime.Utc | undefined
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

/** Returns the address of an erased account, which nobody can have. */
export const erasedEmail = (id: AccountId): string => `${id}@erased.invalid`

/** Returns the key by which email addresses are unique: the address in lower case. */
export const emailKey = (email: string): string => email.toLowerCase()

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const emailPattern = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u
