/** Applies the slots of a plan to the lane of its account and group. */
import { PlanTable } from "@kinora/accounts"
import type { AccountId } from "@kinora/accounts/Account"
import type { Plan, PlanGroup, Tiers } from "@kinora/accounts/Plan"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { DateTime, Effect, type Option } from "effect"
import { GenerationId } from "../Generation.ts"
import { laneOf } from "./jobAddress.ts"
import { makeQueuePromoted } from "./queuePromoted.ts"

/**
 * Makes a function that sets the cap of a lane to the slots of the plan, and queues the jobs
 * that get one. Call it in the unit of work that saves the plan, after all other locks.
 */
export const makeApplySlots = Effect.fnUntraced(function*(planTable: PlanTable.PlanTable) {
  const { setCap } = yield* Scheduler
  const queuePromoted = yield* makeQueuePromoted

  return Effect.fnUntraced(function*<Group extends PlanGroup>(
    account: AccountId,
    group: Group,
    plan: Option.Option<Plan<Tiers[Group]>>
  ) {
    const cap = PlanTable.limits(planTable, group, plan, yield* DateTime.now).concurrency
    const { promoted } = yield* setCap({ ...laneOf({ account, plan: group }), cap })
    yield* queuePromoted(promoted.map(GenerationId.fromUuid))
  })
})
