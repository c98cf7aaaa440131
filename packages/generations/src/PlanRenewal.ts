/** Renews or ends plans when their period ends. Any number of hosts may run it: each period is paid once. */
import type { PlanTable } from "@kinora/accounts"
import { Accounts } from "@kinora/accounts/Accounts"
import type { PlanName } from "@kinora/accounts/AccountStore"
import type { Ledger } from "@kinora/ledger/Ledger"
import { Sweep } from "@kinora/persistence"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Scheduler } from "@kinora/scheduler/Scheduler"
import { Context, Effect, Layer, Option } from "effect"
import type { Changes } from "./Changes.ts"
import type { GenerationStore } from "./GenerationStore.ts"
import { concernsAll } from "./internal/concernsAll.ts"
import { makeGrantPeriod } from "./internal/planCredits.ts"
import { makeApplySlots } from "./internal/planSlots.ts"

/** Sweep of plans whose period ends. */
export class PlanRenewal extends Context.Service<PlanRenewal, {
  /**
   * Renews or ends up to `limit` plans whose period has ended, and renews plans shortly
   * before their period ends. Returns how many. One unit of work per plan takes the
   * payment, starts the new period, grants its credits and applies its slots, or ends the plan
   * and applies the slots of an account without one. A plan that fails is logged
   * and does not stop the others.
   */
  readonly renew: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/generations/PlanRenewal") {}

/** Services that the sweep requires. */
export type Requirements = Accounts | Changes | GenerationStore | Ledger | Scheduler | UnitOfWork

/** Options for `PlanRenewal.layerWith`. */
export interface PlanRenewalOptions {
  /** Prices, credits and slots of the plan tiers. */
  readonly planTable: PlanTable.PlanTable
}

/** The sweep with these options. */
export const layerWith = ({ planTable }: PlanRenewalOptions): Layer.Layer<PlanRenewal, never, Requirements> =>
  Layer.effect(
    PlanRenewal,
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const renewOne = yield* makeRenewOne(planTable)

      const renew = Effect.fn("PlanRenewal.renew")(function*(limit: number) {
        const due = yield* accounts.duePlans(limit)
        const done = yield* Effect.forEach(due, (plan) =>
          renewOne(plan).pipe(
            Effect.catchCause((cause) =>
              concernsAll(cause)
                ? Effect.failCause(cause)
                : Effect.as(Effect.logError("A plan was not renewed", plan, cause), false)
            )
          ))
        return done.filter((isDone) => isDone).length
      })

      return PlanRenewal.of({ renew })
    })
  )

/**
 * Renews plans in the background, on average every `interval` (default 20 seconds, half of
 * the time by which plans are renewed before their period ends) with `limit` plans per call
 * (default 500). Logs failures and continues. Any number of hosts may run it.
 */
export const layerSweep = Sweep.make({
  name: "plans whose period ends",
  interval: "20 seconds",
  limit: 500,
  run: (limit) => PlanRenewal.use(({ renew }) => renew(limit))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Makes a function that renews or ends a plan. Returns `false` if the plan was not due. */
const makeRenewOne = Effect.fnUntraced(function*(planTable: PlanTable.PlanTable) {
  const accounts = yield* Accounts
  const applySlots = yield* makeApplySlots(planTable)
  const grantPeriod = yield* makeGrantPeriod
  const { atomically } = yield* UnitOfWork

  return Effect.fnUntraced(function*({ account, group }: PlanName) {
    const decision = yield* accounts.renewPlan(account, group, planTable)
    if (decision._tag === "Kept") return false
    if (decision._tag === "Renewed") yield* grantPeriod(account, { ...decision, kind: "renewal" })
    // Lanes are locked last.
    yield* applySlots(account, group, decision._tag === "Renewed" ? Option.some(decision.plan) : Option.none())
    return true
  }, atomically)
})
