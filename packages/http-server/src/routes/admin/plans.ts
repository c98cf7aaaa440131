/** Plans in the operator API. A plan grants no credits when it is set. */
import { Account, Accounts, type Subscription } from "@kinora/accounts"
import type { Plan, PlanGroup, Plans, Tiers } from "@kinora/accounts/Plan"
import { PlanChanges } from "@kinora/generations"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { DateTime, Effect, Option } from "effect"
import { changes, note } from "../../middleware/changes.ts"
import { parseId } from "../../middleware/refusals.ts"
import { planToWire, toWire } from "../../wire/adminAccount.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = EndpointGroup.make(AdminApi, "plans", function*(handlers) {
  const accounts = yield* Accounts.Accounts
  const changed = yield* PlanChanges.PlanChanges

  /** Sets or ends a plan, and returns the account with it. */
  const save = Effect.fnUntraced(
    function*<Group extends PlanGroup>(text: string, group: Group, plan: Option.Option<Plan<Tiers[Group]>>) {
      const id = yield* parseId(Account.AccountId.parse, text)
      const { plans: before } = yield* accounts.get(id)
      yield* changed.set(id, group, plan)
      const account = yield* accounts.get(id)
      const tier = Option.match(plan, { onNone: () => null, onSome: ({ tier }) => tier })
      yield* note({ before: recordOf(group, before), after: recordOf(group, account.plans) })
      yield* Effect.logInfo("An operator set a plan", { account: id, group, tier })
      return toWire(account)
    }
  )

  const subscribe = Effect.fnUntraced(
    function*<Group extends PlanGroup>(text: string, group: Group, tier: Tiers[Group]) {
      const id = yield* parseId(Account.AccountId.parse, text)
      const { plans: before } = yield* accounts.get(id)
      const decision = yield* changed.subscribe(id, group, tier)
      const subscription = subscriptionOf(decision)
      const { credits, outcome, usd_cents } = subscription
      const { plans: after } = yield* accounts.get(id)
      yield* note({ before: recordOf(group, before), after: { ...recordOf(group, after), usd_cents, credits } })
      yield* Effect.logInfo("An operator subscribed an account", { account: id, group, tier, outcome })
      return subscription
    }
  )

  const stopRenewal = Effect.fnUntraced(function*(text: string, group: PlanGroup) {
    const id = yield* parseId(Account.AccountId.parse, text)
    const { plans: before } = yield* accounts.get(id)
    yield* accounts.stopRenewal(id, group)
    const { plans: after } = yield* accounts.get(id)
    yield* note({ before: recordOf(group, before), after: recordOf(group, after) })
  })

  return handlers.handleAll({
    setStudioPlan: changes(["AccountDeleted", "AccountNotFound"], function*({ params, payload }) {
      return yield* save(params.id, "studio", planOf(payload))
    }),
    endStudioPlan: changes(["AccountDeleted", "AccountNotFound"], function*({ params }) {
      yield* save(params.id, "studio", Option.none())
    }),
    setCreditsPlan: changes(["AccountDeleted", "AccountNotFound"], function*({ params, payload }) {
      return yield* save(params.id, "credits", planOf(payload))
    }),
    endCreditsPlan: changes(["AccountDeleted", "AccountNotFound"], function*({ params }) {
      yield* save(params.id, "credits", Option.none())
    }),

    subscribeStudio: changes(["AccountDeleted", "AccountNotFound", "BalanceTooLow"], function*({ params, payload }) {
      return yield* subscribe(params.id, "studio", payload.tier)
    }),
    stopStudioRenewal: changes(["AccountDeleted", "AccountNotFound", "PlanNotActive"], function*({ params }) {
      yield* stopRenewal(params.id, "studio")
    }),
    subscribeCredits: changes(["AccountDeleted", "AccountNotFound", "BalanceTooLow"], function*({ params, payload }) {
      return yield* subscribe(params.id, "credits", payload.tier)
    }),
    stopCreditsRenewal: changes(["AccountDeleted", "AccountNotFound", "PlanNotActive"], function*({ params }) {
      yield* stopRenewal(params.id, "credits")
    })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const planOf = <Tier extends string>(
  { auto_renew: autoRenew = false, period_end: periodEnd, tier }: {
    readonly tier: Tier
    readonly period_end: DateTime.Utc
    readonly auto_renew?: boolean
  }
): Option.Option<Plan<Tier>> => Option.some({ tier, periodEnd, autoRenew })

/** Returns a plan as the audit log records it. */
const recordOf = (group: PlanGroup, plans: Plans) =>
  Option.match<Plan<string>, { readonly [key: string]: string | boolean | null } | null>(plans[group], {
    onNone: () => null,
    onSome: ({ autoRenew, nextTier = null, periodEnd, tier }) => ({
      tier,
      period_end: DateTime.formatIso(periodEnd),
      auto_renew: autoRenew,
      next_tier: nextTier
    })
  })

const outcomes = {
  Started: "started",
  Raised: "raised",
  Scheduled: "scheduled",
  Continued: "continued"
} as const satisfies Record<Subscription.Decision<PlanGroup>["_tag"], string>

const subscriptionOf = <Group extends PlanGroup>(decision: Subscription.Decision<Group>) => {
  const { credits, priceCents } = "priceCents" in decision ? decision : { credits: 0, priceCents: 0 }
  return { outcome: outcomes[decision._tag], usd_cents: priceCents, credits, plan: planToWire(decision.plan) }
}
