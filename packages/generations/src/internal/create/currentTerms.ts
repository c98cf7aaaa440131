/** Caps and weights of lanes for jobs whose terms come from an older plan than the lane's. */
import { PlanTable } from "@kinora/accounts"
import { AccountId } from "@kinora/accounts/Account"
import { Accounts } from "@kinora/accounts/Accounts"
import * as Lanes from "@kinora/scheduler/Lanes"
import { DateTime, Effect, Option } from "effect"
import { laneOf } from "../jobAddress.ts"
import type { AdmittedJob } from "./admittedJob.ts"

/** The part of a job's terms that its lane has. */
export type LaneTerms = Pick<PlanTable.Limits, "concurrency" | "weight">

/**
 * Makes a function that reads the plans of the jobs whose terms differ from those of their lane,
 * and returns the terms that follow from them. The terms of a job can come from a cached account,
 * and an outdated cap would stay until the next job. A plan and its lane change in one unit, so a
 * plan that is read while the lane is locked is not older than the lane.
 */
export const makeCurrentTerms = Effect.fnUntraced(function*(planTable: PlanTable.PlanTable) {
  const accounts = yield* Accounts

  const plansOf = Effect.fnUntraced(function*(account: string) {
    const id = AccountId.parse(account)
    return id === undefined ? Option.none() : yield* Effect.asSome(accounts.plans(id))
  }, Effect.catchTag("AccountsError", () => Effect.succeedNone))

  return Effect.fnUntraced(function*(lanes: Lanes.Lanes, jobs: ReadonlyArray<AdmittedJob>) {
    const current = new Map<string, LaneTerms>()
    for (const { generation, terms } of jobs) {
      const { lane } = laneOf(generation)
      const { cap, weight } = Lanes.get(lanes, lane)
      // A new lane has the cap 0: no change of a plan has set it.
      if (cap === 0 || current.has(lane)) continue
      if (cap === terms.concurrency && weight === terms.weight) continue
      const plans = yield* plansOf(generation.account)
      // `Accounts` may not have the account. The terms of the command apply in this case.
      const plan = Option.map(plans, (plans) => plans[generation.plan])
      if (Option.isNone(plan)) continue
      current.set(lane, PlanTable.limits(planTable, generation.plan, plan.value, yield* DateTime.now))
    }
    return current
  })
})
