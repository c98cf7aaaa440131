/** Caps of lanes for jobs whose terms come from an older plan than the lane's cap. */
import { PlanTable } from "@kinora/accounts"
import { AccountId } from "@kinora/accounts/Account"
import { Accounts } from "@kinora/accounts/Accounts"
import * as Lanes from "@kinora/scheduler/Lanes"
import { DateTime, Effect, Option } from "effect"
import { laneOf } from "../jobAddress.ts"
import type { AdmittedJob } from "./admittedJob.ts"

/**
 * Makes a function that reads the plans of the jobs whose terms differ from the cap of their
 * lane, and returns the caps that follow from them. The terms can come from a cached account,
 * and an outdated cap would stay until the next job. A plan and the cap of its lane change in
 * one unit, so a plan that is read while the lane is locked is not older than the cap.
 */
export const makeCurrentCaps = Effect.fnUntraced(function*(planTable: PlanTable.PlanTable) {
  const accounts = yield* Accounts

  const plansOf = Effect.fnUntraced(function*(account: string) {
    const id = AccountId.parse(account)
    return id === undefined ? Option.none() : yield* Effect.asSome(accounts.plans(id))
  }, Effect.catchTag("AccountsError", () => Effect.succeedNone))

  return Effect.fnUntraced(function*(lanes: Lanes.Lanes, jobs: ReadonlyArray<AdmittedJob>) {
    const caps = new Map<string, number>()
    for (const { generation, terms } of jobs) {
      const { lane } = laneOf(generation)
      const cap = Lanes.capOf(lanes, lane)
      // A new lane has the cap 0: no change of a plan has set it.
      if (cap === 0 || cap === terms.concurrency || caps.has(lane)) continue
      const plans = yield* plansOf(generation.account)
      // The caller may keep its accounts elsewhere. The terms are all that is known then.
      const current = Option.map(plans, (plans) => plans[generation.plan])
      if (Option.isNone(current)) continue
      const { concurrency } = PlanTable.limits(planTable, generation.plan, current.value, yield* DateTime.now)
      caps.set(lane, concurrency)
    }
    return caps
  })
})
