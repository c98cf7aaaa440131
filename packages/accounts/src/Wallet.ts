/** Movements of the balance of an account, in US cents. A reference is used once per kind. */
import type { DateTime } from "effect"
import type { AccountId } from "./Account.ts"

/** A change of a balance. */
export interface Movement {
  readonly account: AccountId
  readonly kind: "deposit" | "renewal"
  /** The reference of a deposit by its caller, or the period of a renewal. Unique per account and kind. */
  readonly reference: string
  /** Positive for a deposit, negative for a renewal. */
  readonly cents: number
  /** The balance after the movement. */
  readonly balanceCents: number
  readonly at: DateTime.Utc
}

/** Names a movement of an account. */
export interface MovementName extends Pick<Movement, "kind" | "reference"> {}

/** Which movements to list. */
export interface MovementQuery {
  readonly account: AccountId
  /** Lists only movements before this one. If the account has no such movement, none. */
  readonly before?: MovementName | undefined
  readonly limit: number
}

/** Maximum amount of a deposit: ten million dollars. */
export const depositMax = 1_000_000_000

/** Maximum length of a reference, in UTF-16 code units. */
export const referenceCharsMax = 128

/** Returns whether the amount is a valid deposit. */
export const isDeposit = (cents: number): boolean => Number.isSafeInteger(cents) && cents > 0 && cents <= depositMax
