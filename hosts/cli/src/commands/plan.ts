/** `kinora plan`. */
import type { AdminAccount } from "@kinora/http-api/AdminAccount"
import { CreditsTier, StudioTier, type SubscriptionOutcome } from "@kinora/http-api/AdminPlan"
import { DateTime, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { Operator } from "../Operator.ts"
import * as Output from "../Output.ts"
import { account, idOf } from "./accountArgument.ts"
import { intBetween } from "./flags.ts"
import { confirm, operatorCommand } from "./operatorCommand.ts"

const period = {
  days: intBetween("days", "Length of the period from now", { minimum: 1, maximum: 3_660, usual: 30 }),
  renew: Flag.Boolean("renew").pipe(
    Flag.withDescription("Renew from the balance at the end of the period"),
    Flag.withDefault(false)
  )
}

const tier = <const Tiers extends ReadonlyArray<string>>(tiers: Tiers) =>
  Argument.Literals("tier", tiers).pipe(Argument.withDescription(tiers.join(", ")))

/** Returns the properties of a plan that is set now. */
const periodOf = Effect.fnUntraced(function*({ days, renew }: { readonly days: number; readonly renew: boolean }) {
  return { period_end: DateTime.add(yield* DateTime.now, { days }), auto_renew: renew }
})

const show = (group: "studio" | "credits", account: AdminAccount) => {
  const plan = account.plans[group]
  const text = plan === null
    ? `${account.email} has no ${group} plan.`
    : `${account.email} has the ${group} plan ${plan.tier}, which ${plan.auto_renew ? "renews" : "ends"} ` +
      `${Output.time(plan.period_end)}${plan.next_tier === null ? "" : ` as ${plan.next_tier}`}.`
  return Output.show(account, text)
}

/** A command that sets the plan of a group and shows it. */
const set = <Tier extends string, E, R>(
  group: "studio" | "credits",
  description: string,
  tiers: ReadonlyArray<Tier>,
  run: (operator: Operator, request: PlanRequest<Tier>) => Effect.Effect<AdminAccount, E, R>
) =>
  operatorCommand(
    group,
    description,
    { account, tier: tier(tiers), ...period },
    Effect.fnUntraced(function*(operator, { account, tier, ...period }) {
      const params = { id: yield* idOf(operator, account) }
      const payload = { tier, ...(yield* periodOf(period)) }
      yield* show(group, yield* run(operator, { params, payload }))
    })
  )

interface PlanRequest<Tier> {
  readonly params: { readonly id: string }
  readonly payload: { readonly tier: Tier; readonly period_end: DateTime.Utc; readonly auto_renew: boolean }
}

const studio = set(
  "studio",
  "Set the Studio plan, which replaces the current one",
  StudioTier.literals,
  ({ plans }, request) => plans.setStudioPlan(request)
)

const credits = set(
  "credits",
  "Set the Credits plan, which replaces the current one. It grants no credits",
  CreditsTier.literals,
  ({ plans }, request) => plans.setCreditsPlan(request)
)

const end = operatorCommand(
  "end",
  "End the plan of a group now",
  { account, group: Argument.Literals("group", ["studio", "credits"]) },
  Effect.fnUntraced(function*(operator, { account, group }) {
    const params = { id: yield* idOf(operator, account) }
    yield* confirm(`End the ${group} plan of ${account} now?`)
    yield* group === "studio" ? operator.plans.endStudioPlan({ params }) : operator.plans.endCreditsPlan({ params })
    yield* show(group, yield* operator.accounts.getAccount({ params }))
  })
)

/** A change that a subscription has made. */
interface Subscribed {
  readonly outcome: SubscriptionOutcome
  readonly usd_cents: number
  readonly credits: number
}

const sentences: Readonly<Record<SubscriptionOutcome, string>> = {
  started: "A period has started.",
  raised: "The higher tier applies now.",
  scheduled: "The lower tier applies from the next period on.",
  continued: "The plan renews with its tier."
}

const showSubscription = (subscription: Subscribed & { readonly plan: { readonly period_end: DateTime.Utc } }) =>
  Output.show(
    subscription,
    [
      sentences[subscription.outcome],
      Output.properties([
        ["paid", Output.dollars(subscription.usd_cents)],
        ["credits", String(subscription.credits)],
        ["period ends", Output.time(subscription.plan.period_end)]
      ])
    ].join("\n")
  )

const subscribeStudio = operatorCommand(
  "studio",
  "Start the Studio plan or change its tier, paid from the balance",
  { account, tier: tier(StudioTier.literals) },
  Effect.fnUntraced(function*(operator, { account, tier }) {
    const params = { id: yield* idOf(operator, account) }
    yield* showSubscription(yield* operator.plans.subscribeStudio({ params, payload: { tier } }))
  })
)

const subscribeCredits = operatorCommand(
  "credits",
  "Start the Credits plan or change its tier, paid from the balance, and grant its credits",
  { account, tier: tier(CreditsTier.literals) },
  Effect.fnUntraced(function*(operator, { account, tier }) {
    const params = { id: yield* idOf(operator, account) }
    yield* showSubscription(yield* operator.plans.subscribeCredits({ params, payload: { tier } }))
  })
)

const subscribe = Command.make("subscribe").pipe(
  Command.withDescription("Start plans that are paid from the balance and renew, or change their tier"),
  Command.withSubcommands([subscribeStudio, subscribeCredits])
)

const stop = operatorCommand(
  "stop",
  "Let the plan of a group end with its period instead of renewing it",
  { account, group: Argument.Literals("group", ["studio", "credits"]) },
  Effect.fnUntraced(function*(operator, { account, group }) {
    const params = { id: yield* idOf(operator, account) }
    yield* group === "studio"
      ? operator.plans.stopStudioRenewal({ params })
      : operator.plans.stopCreditsRenewal({ params })
    yield* show(group, yield* operator.accounts.getAccount({ params }))
  })
)

/** Starts, changes, sets and ends plans. */
export const planCommand = Command.make("plan").pipe(
  Command.withDescription("Start, change, set and end plans"),
  Command.withSubcommands([subscribe, stop, studio, credits, end])
)
