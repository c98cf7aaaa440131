/** Results of verifying the books. */

/** A stored figure that differs from the books. */
export interface Discrepancy {
  readonly account: string
  /**
   * The figure: `remaining` or `granted` of a lot, charges `used` of a quota's day, credits `held` by a hold, or
   * the `amount` of a transaction, which must equal the sum of its entries.
   */
  readonly figure: "remaining" | "granted" | "used" | "held" | "amount"
  /** The lot's id, the book of the quota (`quota:<kind>:<day>`) or hold (`held:<reference>`), or the transaction's id. */
  readonly subject: string
  /** The figure according to the books. `null` if the books do not mention the subject. */
  readonly booked: number | null
  /** The stored figure. `null` if it is missing. */
  readonly kept: number | null
}

/** The result of a verification. */
export interface Verification {
  /** The number of verified accounts. */
  readonly accounts: number
  /** Credits over all lots. In sound books `granted = remaining + held + consumed + expired`. */
  readonly totals: {
    /** Credits that grants brought in. */
    readonly granted: number
    /** Credits in lots, as stored. */
    readonly remaining: number
    /** Credits in open holds, as stored. */
    readonly held: number
    /** Credits that paid for charges and were not refunded. */
    readonly consumed: number
    /** Credits that were left in lots whose expiry was booked. */
    readonly expired: number
  }
  /** The first discrepancies, by account and subject. Empty if the books are sound. */
  readonly discrepancies: ReadonlyArray<Discrepancy>
  /** The last verified account if others follow it. Pass it as `after` to continue. */
  readonly next: string | undefined
}
