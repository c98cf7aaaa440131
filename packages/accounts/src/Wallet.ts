/** Movements of the balance of an account, in US cents. A reference is used once per kind. */
import { type DateTime, Schema } from "effect"
import type { AccountId } from "./Account.ts"

/**
 * The kinds of movements. `deposit` and `debit` are made by callers; `subscription` pays the first period of
 * a plan, `upgrade` a higher tier for the rest of a period, and `renewal` another period.
 */
export const MovementKind = Schema.Literals(["deposit", "debit", "subscription", "upgrade", "renewal"])
/** Type of `MovementKind`. */
export type MovementKind = typeof MovementKind.Type

/** A change of a balance. */
export interface Movement {
  readonly account: AccountId
  readonly kind: MovementKind
  /** The reference of a deposit or debit by its caller, or the plan and the period that is paid. Unique per account and kind. */
  readonly reference: string
  /** Positive for a deposit, negative for the other kinds. */
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

/** A deposit or a debit to make. */
export interface MovementOptions {
  /** The caller's name for it, which makes it happen once: 1 to `referenceCharsMax` characters. */
  readonly reference: string
  /** From 1 to `amountMax`. */
  readonly cents: number
}

/** Maximum amount of a deposit or a debit: ten million dollars. */
export const amountMax = 1_000_000_000

/** Maximum length of a reference, in UTF-16 code units. */
export const referenceCharsMax = 128

/** Returns whether a deposit or a debit can have the amount. */
export const isAmount = (cents: number): boolean => Number.isSafeInteger(cents) && cents > 0 && cents <= amountMax
