/** Lets plans go on or end when their period does (D25). Any number of hosts may: each period is paid once. */
import type { PlanTable } from "@kinora/accounts"
import { Accounts } from "@kinora/accounts/Accounts"
import type { PlanName } from "@kinora/accounts/AccountStore"
import { Ledger } from "@kinora/ledger/Ledger"
import { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Cause, Context, DateTime, Effect, Layer, Result } from "effect"

/** The sweep of plans. */
export class PlanRenewal extends Context.Service<PlanRenewal, {
  /**
   * Renews or ends up to `limit` plans whose period is over, and renews those that
   * go on shortly before; answers how many. In one unit each: what is paid, the new
   * period, and the credits that it brings.
   */
  readonly renew: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/generations/PlanRenewal") {}

/** What renewing is built on. */
export type Requirements = Accounts | Ledger | UnitOfWork

/** Renewals at the prices of this table. */
export const layerWith = (
  { planTable }: { readonly planTable: PlanTable.PlanTable }
): Layer.Layer<PlanRenewal, never, Requirements> =>
  Layer.effect(
    PlanRenewal,
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork

      /** Whether something was done. */
      const renewOne = Effect.fnUntraced(function*({ account, group }: PlanName) {
        const renewed = yield* accounts.renewPlan(account, group, planTable)
        if (renewed._tag !== "Renewed") return renewed._tag === "Lapsed"
        const { credits, plan: { periodEnd, tier } } = renewed
        if (credits === 0) return true
        const granted = yield* ledger.grant({
          account,
          reference: `renewal ${tier} ${DateTime.formatIso(periodEnd)}`,
          kind: "plan",
          credits,
          expiresAt: periodEnd,
          at: yield* DateTime.now
        })
        // A period that was just bought ends in the future.
        const { _tag, lot } = Result.getOrThrow(granted)
        // The lot of a plan that was set back is there; one that somebody else named like it is not the plan's.
        const isOwn = _tag === "Granted" || (lot.kind === "plan" && DateTime.Equivalence(lot.expiresAt, periodEnd))
        return isOwn || (yield* Effect.die(new Error(`The lot ${lot.id} has the reference of a renewal`)))
      }, atomically)

      const renew = Effect.fn("PlanRenewal.renew")(function*(limit: number) {
        const due = yield* accounts.duePlans(limit)
        const done = yield* Effect.forEach(due, (plan) =>
          renewOne(plan).pipe(
            // One account that is damaged is no reason for the others to wait.
            Effect.catchCause((cause) =>
              isForAll(cause)
                ? Effect.failCause(cause)
                : Effect.as(Effect.logError("A plan was not renewed", plan, cause), false)
            )
          ))
        return done.filter((isDone) => isDone).length
      })

      return PlanRenewal.of({ renew })
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Whether the other plans would fare no better: the database is away, or the process stops. */
const isForAll = <E>(cause: Cause.Cause<E>): cause is Cause.Cause<Extract<E, StorageError>> =>
  Cause.hasInterruptsOnly(cause) ||
  cause.reasons.some((reason) => Cause.isFailReason(reason) && isAway(reason.error))

const isAway = (error: unknown) => error instanceof StorageError && error.isRetryable
