/** The figures of an account in the console. */
import { PlanTable } from "@kinora/accounts"
import type { Account } from "@kinora/accounts/Account"
import * as Plan from "@kinora/accounts/Plan"
import type { GenerationQueue } from "@kinora/generations"
import type { AccountSummary } from "@kinora/http-api/ConsoleAccount"
import type { Balances } from "@kinora/ledger/Ledger"
import type { Endpoint } from "@kinora/webhooks/Endpoint"
import { DateTime, Option } from "effect"

/** The parts of a summary. */
export interface Facts {
  readonly account: Account
  /** The plan groups that have jobs. */
  readonly lanes: ReadonlyArray<GenerationQueue.QueueLane>
  readonly balances: Balances
  readonly endpoints: ReadonlyArray<Endpoint>
  readonly now: DateTime.Utc
}

/** Converts the facts to a summary. */
export const summaryOf = (facts: Facts, table: PlanTable.PlanTable): AccountSummary => {
  const { account: { plans }, lanes, now } = facts
  const sum = (status: "pending" | "queued" | "processing") => lanes.reduce((total, lane) => total + lane[status], 0)
  const laneOf = (plan: Plan.PlanGroup, { concurrency }: PlanTable.Limits) => {
    const lane = lanes.find((lane) => lane.plan === plan)
    return { running: (lane?.queued ?? 0) + (lane?.processing ?? 0), concurrency, waiting: lane?.pending ?? 0 }
  }
  return {
    jobs: { pending: sum("pending"), queued: sum("queued"), processing: sum("processing") },
    plans: {
      studio: laneOf("studio", PlanTable.limits(table, "studio", plans.studio, now)),
      credits: laneOf("credits", PlanTable.limits(table, "credits", plans.credits, now))
    },
    warnings: warningsOf(facts)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** How long before an end the account is warned. */
const warnedBefore = { days: 7 } as const

const warningsOf = ({ account: { plans }, balances, endpoints, now }: Facts): AccountSummary["warnings"] => {
  const soon = DateTime.addDuration(now, warnedBefore)
  const disabled = endpoints.filter(({ status }) => status === "disabled").length
  const expiring = balances.lots.filter(({ expiresAt }) => DateTime.isLessThan(expiresAt, soon))
    .reduce((sum, { remaining }) => sum + remaining, 0)
  const endings = (["studio", "credits"] as const).flatMap((group) =>
    Option.toArray(Plan.active<string>(plans[group], now))
      .filter(({ autoRenew, periodEnd }) => !autoRenew && DateTime.isLessThan(periodEnd, soon))
      .map(({ periodEnd }) => ({
        code: "plan_ends" as const,
        message: `The plan of the group ${group} ends on ${DateTime.formatIsoDateUtc(periodEnd)}.`
      }))
  )
  return [
    ...(disabled === 0 ? [] : [{
      code: "webhook_disabled" as const,
      message: `${disabled} of ${endpoints.length} webhook endpoints are disabled and receive no events.`
    }]),
    ...(expiring === 0 ? [] : [{
      code: "credits_expire" as const,
      message: `${expiring} credits expire within 7 days.`
    }]),
    ...endings
  ]
}
