/** Plans that are paid from the balance. */
import { Pipelining, UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Option, Result } from "effect"
import type { AccountId } from "../Account.ts"
import * as AccountsError from "../AccountsError.ts"
import { AccountStore } from "../AccountStore.ts"
import * as Plan from "../Plan.ts"
import type { PlanTable } from "../PlanTable.ts"
import * as Renewal from "../Renewal.ts"
import * as Subscription from "../Subscription.ts"
import { type AccountChanges, refuse } from "./accountChanges.ts"
import { makePay } from "./wallet.ts"

/** Creates the methods of `Accounts` for subscriptions and renewals. */
export const makeSubscriptions = Effect.fnUntraced(function*({ open }: AccountChanges) {
  const store = yield* AccountStore
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const pay = yield* makePay

  return {
    subscribe: Effect.fn("Accounts.subscribe")(function*<Group extends Plan.PlanGroup>(
      id: AccountId,
      group: Group,
      tier: Plan.Tiers[Group],
      table: PlanTable
    ) {
      const account = yield* open(id)
      const state: Subscription.State<Group> = { balanceCents: account.balanceCents, plan: account.plans[group] }
      const decided = Subscription.decide(state, { group, tier }, table, yield* DateTime.now)
      if (Result.isFailure(decided)) return yield* refuse(new AccountsError.BalanceTooLow(decided.failure))
      const decision = decided.success
      yield* Pipelining.atCommit(store.savePlan(id, group, Option.some(decision.plan)))
      if (decision._tag === "Started") yield* pay(account, { ...decision, group, kind: "subscription" })
      if (decision._tag === "Raised") yield* pay(account, { ...decision, group, kind: "upgrade" })
      return decision
    }, atomically),

    stopRenewal: Effect.fn("Accounts.stopRenewal")(function*<Group extends Plan.PlanGroup>(
      id: AccountId,
      group: Group
    ) {
      const { plans } = yield* open(id)
      const plan: Option.Option<Plan.Plan<Plan.Tiers[Group]>> = plans[group]
      const active = Plan.active(plan, yield* DateTime.now)
      if (Option.isNone(active)) return yield* refuse(new AccountsError.PlanNotActive({ group }))
      const { periodEnd, tier } = active.value
      yield* Pipelining.atCommit(store.savePlan(id, group, Option.some({ tier, periodEnd, autoRenew: false })))
    }, atomically),

    duePlans: Effect.fn("Accounts.duePlans")(function*(limit: number) {
      const endedBy = yield* DateTime.now
      const renewableBy = DateTime.add(endedBy, { seconds: Renewal.leadSeconds })
      return yield* store.findDuePlans({ endedBy, renewableBy, limit })
    }),

    renewPlan: Effect.fn("Accounts.renewPlan")(function*<Group extends Plan.PlanGroup>(
      id: AccountId,
      group: Group,
      table: PlanTable
    ) {
      const account = yield* open(id)
      const plan: Option.Option<Plan.Plan<Plan.Tiers[Group]>> = account.plans[group]
      const decision = Renewal.decide(group, plan, account.balanceCents, table, yield* DateTime.now)
      if (decision._tag === "Lapsed") yield* Pipelining.atCommit(store.savePlan(id, group, Option.none()))
      if (decision._tag === "Renewed") {
        yield* Pipelining.atCommit(store.savePlan(id, group, Option.some(decision.plan)))
        yield* pay(account, { ...decision, group, kind: "renewal" })
      }
      return decision
    }, atomically)
  }
})
