/** Sets and ends plans, with the slots that the jobs of the account get from them. */
import type { PlanTable } from "@kinora/accounts"
import type { AccountId } from "@kinora/accounts/Account"
import { Accounts, type Failure } from "@kinora/accounts/Accounts"
import type { Plan, PlanGroup, Tiers } from "@kinora/accounts/Plan"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Scheduler } from "@kinora/scheduler/Scheduler"
import { Context, Effect, Layer, type Option } from "effect"
import type { Changes } from "./Changes.ts"
import type { GenerationStore } from "./GenerationStore.ts"
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
}>()("@kinora/generations/PlanChanges") {}

/** Services that plan changes require. */
export type Requirements = Accounts | Changes | GenerationStore | Scheduler | UnitOfWork

/** Options for `PlanChanges.layerWith`. */
export interface PlanChangesOptions {
  /** Slots of the plan tiers. */
  readonly planTable: PlanTable.PlanTable
}

/** Plan changes with these options. */
export const layerWith = ({ planTable }: PlanChangesOptions): Layer.Layer<PlanChanges, never, Requirements> =>
  Layer.effect(
    PlanChanges,
    Effect.gen(function*() {
      const { setPlan } = yield* Accounts
      const { atomically } = yield* UnitOfWork
      const applySlots = yield* makeApplySlots(planTable)

      const set = Effect.fn("PlanChanges.set")(function*<Group extends PlanGroup>(
        account: AccountId,
        group: Group,
        plan: Option.Option<Plan<Tiers[Group]>>
      ) {
        yield* setPlan(account, group, plan)
        yield* applySlots(account, group, plan)
      }, atomically)

      return PlanChanges.of({ set })
    })
  )
