/** An account's balance in US cents, from which plans are paid (D25). Every movement is kept, once for its reference. */
import type { DateTime } from "effect"
import type { AccountId } from "./Account.ts"

/** Something that changed a balance. */
export interface Movement {
  readonly account: AccountId
  readonly kind: "deposit" | "renewal"
  /** The name of a deposit by its caller, of a renewal by what was paid: an account's second one of its kind changes nothing. */
  readonly reference: string
  /** Positive when it came in. */
  readonly cents: number
  /** The balance after it. */
  readonly balanceCents: number
  readonly at: DateTime.Utc
}

/** The most that one deposit can be: ten million dollars. */
export const depositMax = 1_000_000_000

/** Longest reference, in UTF-16 code units. */
export const referenceCharsMax = 128

/** Whether so much can be deposited at once. */
export const isDeposit = (cents: number): boolean => Number.isSafeInteger(cents) && cents > 0 && cents <= depositMax
