/** Applies the slots and the weight of a plan to the lane of its account and group. */
import { PlanTable } from "@kinora/accounts"
import type { AccountId } from "@kinora/accounts/Account"
import type { Plan, PlanGroup, Tiers } from "@kinora/accounts/Plan"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { DateTime, Effect, type Option } from "effect"
import { GenerationId } from "../Generation.ts"
import { laneOf } from "./jobAddress.ts"
import { makeQueuePromoted } from "./queuePromoted.ts"

/**
 * Makes a function that sets the cap and the weight of a lane to those of the plan, and queues
 * the jobs that get a slot. Call it in the unit of work that saves the plan, after all other locks.
 */
export const makeApplySlots = Effect.fnUntraced(function*(planTable: PlanTable.PlanTable) {
  const { setCap } = yield* Scheduler
  const queuePromoted = yield* makeQueuePromoted

  return Effect.fnUntraced(function*<Group extends PlanGroup>(
    account: AccountId,
    group: Group,
    plan: Option.Option<Plan<Tiers[Group]>>
  ) {
    const { concurrency: cap, weight } = PlanTable.limits(planTable, group, plan, yield* DateTime.now)
    const { promoted } = yield* setCap({ ...laneOf({ account, plan: group }), cap, weight })
    yield* queuePromoted(promoted.map(GenerationId.fromUuid))
  })
})
