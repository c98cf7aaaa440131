/** Sets, starts, changes and ends plans, with the slots that the jobs of the account get from them. */
import type { PlanTable, Subscription } from "@kinora/accounts"
import type { AccountId } from "@kinora/accounts/Account"
import { Accounts, type Failure } from "@kinora/accounts/Accounts"
import type { Plan, PlanGroup, Tiers } from "@kinora/accounts/Plan"
import type { Ledger } from "@kinora/ledger/Ledger"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Scheduler } from "@kinora/scheduler/Scheduler"
import { Context, Effect, Layer, Option } from "effect"
import type { Changes } from "./Changes.ts"
import type { GenerationStore } from "./GenerationStore.ts"
import { makeGrantPeriod } from "./internal/planCredits.ts"
import { makeApplySlots } from "./internal/planSlots.ts"

/** Changes of plans. */
export class PlanChanges extends Context.Service<PlanChanges, {
  /**
   * Sets the plan of one group like `Accounts.setPlan`, or removes it. One unit of work saves
   * the plan and the number of slots, and queues the waiting jobs that get a slot. A plan with
   * fewer slots takes none from the jobs that hold one.
   */
  readonly set: <Group extends PlanGroup>(
    account: AccountId,
    group: Group,
    plan: Option.Option<Plan<Tiers[Group]>>
  ) => Effect.Effect<void, Failure>

  /**
   * Starts a plan or changes its tier like `Accounts.subscribe`. One unit of work takes the payment, saves the
   * plan, grants the credits of the period, and applies the slots.
   */
  readonly subscribe: <Group extends PlanGroup>(
    account: AccountId,
    group: Group,
    tier: Tiers[Group]
  ) => Effect.Effect<Subscription.Decision<Group>, Failure>
}>()("@kinora/generations/PlanChanges") {}

/** Services that plan changes require. */
export type Requirements = Accounts | Changes | GenerationStore | Ledger | Scheduler | UnitOfWork

/** Options for `PlanChanges.layerWith`. */
export interface PlanChangesOptions {
  /** Prices, credits and slots of the plan tiers. */
  readonly planTable: PlanTable.PlanTable
}

/** Plan changes with these options. */
export const layerWith = ({ planTable }: PlanChangesOptions): Layer.Layer<PlanChanges, never, Requirements> =>
  Layer.effect(
    PlanChanges,
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const { atomically } = yield* UnitOfWork
      const applySlots = yield* makeApplySlots(planTable)
      const grantPeriod = yield* makeGrantPeriod

      const set = Effect.fn("PlanChanges.set")(function*<Group extends PlanGroup>(
        account: AccountId,
        group: Group,
        plan: Option.Option<Plan<Tiers[Group]>>
      ) {
        yield* accounts.setPlan(account, group, plan)
        yield* applySlots(account, group, plan)
      }, atomically)

      const subscribe = Effect.fn("PlanChanges.subscribe")(function*<Group extends PlanGroup>(
        account: AccountId,
        group: Group,
        tier: Tiers[Group]
      ) {
        const decision = yield* accounts.subscribe(account, group, tier, planTable)
        if (decision._tag === "Started") yield* grantPeriod(account, { ...decision, kind: "subscription" })
        if (decision._tag === "Raised") yield* grantPeriod(account, { ...decision, kind: "upgrade" })
        // Lanes are locked last.
        yield* applySlots(account, group, Option.some(decision.plan))
        return decision
      }, atomically)

      return PlanChanges.of({ set, subscribe })
    })
  )
