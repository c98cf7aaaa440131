/** Credits of a period of a plan that was paid. */
import type { AccountId } from "@kinora/accounts/Account"
import type { Plan } from "@kinora/accounts/Plan"
import { Ledger } from "@kinora/ledger/Ledger"
import { DateTime, Effect } from "effect"

/** A period, or the rest of one, with its credits. */
interface PaidPeriod {
  readonly kind: "renewal" | "subscription" | "upgrade"
  readonly plan: Plan<string>
  readonly credits: number
}

/**
 * Makes a function that grants the credits of a period, which expire with it. Call it in the unit of work of the
 * payment. It grants each period once per tier, and dies if another lot has the reference of the period.
 */
export const makeGrantPeriod = Effect.map(
  Ledger,
  (ledger) =>
    Effect.fnUntraced(function*(account: AccountId, { credits, kind, plan: { periodEnd, tier } }: PaidPeriod) {
      if (credits === 0) return
      const { _tag, lot } = yield* ledger.grant({
        account,
        reference: `${kind} ${tier} ${DateTime.formatIso(periodEnd)}`,
        kind: "plan",
        credits,
        expiresAt: periodEnd,
        at: yield* DateTime.now
      }).pipe(
        // The only refusal is an expired lot, and a paid period ends in the future.
        Effect.catchTag("LedgerError", Effect.die)
      )
      // If a plan was set back to an earlier period, its lot exists. Another lot with this reference is corruption.
      const isOwn = _tag === "Granted" || (lot.kind === "plan" && DateTime.Equivalence(lot.expiresAt, periodEnd))
      if (!isOwn) return yield* Effect.die(new Error(`The lot ${lot.id} has the reference of a ${kind}`))
    })
)
