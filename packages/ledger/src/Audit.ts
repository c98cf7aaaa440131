/** What `Ledger.verify` finds: the books against the figures that are kept beside them (D24). */

/** A figure that differs from what the books say. */
export interface Discrepancy {
  readonly account: string
  /**
   * What differs: a lot's `remaining` or `granted`, the charges that a quota's day
   * has `used`, or the `amount` of a transaction against the sum of its entries.
   */
  readonly figure: "remaining" | "granted" | "used" | "amount"
  /** The lot's id, the quota's book (`quota:<kind>:<day>`) or the transaction's id. */
  readonly subject: string
  /** What the books say; `null` when they know of nothing like it. */
  readonly booked: number | null
  /** What is kept; `null` when it is missing. */
  readonly kept: number | null
}

/** Credits over all lots. In sound books `granted = remaining + consumed + expired`. */
export interface Totals {
  /** Came in through grants. */
  readonly granted: number
  /** What the lots hold, as kept beside the books. */
  readonly remaining: number
  /** Paid for charges that were not refunded. */
  readonly consumed: number
  /** Left in lots whose expiry was booked. */
  readonly expired: number
}

/** The result of a verification. */
export interface Verification {
  readonly accounts: number
  readonly totals: Totals
  /** The first of them, by account and subject; empty when all is sound. */
  readonly discrepancies: ReadonlyArray<Discrepancy>
  /** The last account that was compared when others are left behind it: where to go on. */
  readonly next: string | undefined
}

/** Totals of nothing. */
export const noTotals: Totals = { granted: 0, remaining: 0, consumed: 0, expired: 0 }

/** The totals of both. */
export const addTotals = (one: Totals, other: Totals): Totals => ({
  granted: one.granted + other.granted,
  remaining: one.remaining + other.remaining,
  consumed: one.consumed + other.consumed,
  expired: one.expired + other.expired
})
