/** Whether a request can become a generation, and at what price (D13, D16, D17). Pure. */
import { PlanTable } from "@kinora/accounts"
import type { Account } from "@kinora/accounts/Account"
import { Issue, type Model, Parameters, Price } from "@kinora/catalog"
import type { ChargeCommand } from "@kinora/ledger/Charge"
import { type DateTime, type Duration, Option, Result } from "effect"
import type { Generation } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"

/** A request that was found good. */
export interface Admitted {
  readonly resolved: Parameters.Resolved
  /** What to charge. */
  readonly amount: ChargeCommand["amount"]
  /** Slots of the account in this plan group today. */
  readonly concurrency: number
  /** How long the job may run. */
  readonly timeLimit: Duration.Duration
}

/** What is asked of which model by whom. */
export interface Asked {
  readonly account: Account
  readonly plan: Generation["plan"]
  /** The model of the request, if it is listed. */
  readonly model: Option.Option<Model.Model>
  readonly modelId: string
  readonly params: unknown
}

/** Checks in the order of D13: model, plan, parameters. */
export const admit = (
  { account, model, modelId, params, plan }: Asked,
  table: PlanTable.PlanTable,
  now: DateTime.Utc
): Result.Result<Admitted, GenerationError.Refusal> => {
  if (Option.isNone(model)) return Result.fail(new GenerationError.ModelNotFound({ model: modelId }))
  const { id, status, studio_eligible, time_limit } = model.value
  if (status === "withdrawn") return Result.fail(new GenerationError.ModelNotFound({ model: id }))
  if (status === "paused") return Result.fail(new GenerationError.ModelUnavailable({ model: id }))
  const quota = PlanTable.dailyQuota(table, account.plans.studio, now)
  if (plan === "studio" && Option.isNone(quota)) return Result.fail(new GenerationError.PlanInactive({ plan }))
  if (plan === "studio" && !studio_eligible) {
    return Result.fail(new GenerationError.ModelNotInPlan({ model: id, plan }))
  }
  const resolved = Parameters.resolve(model.value, params)
  if (Result.isFailure(resolved)) return Result.fail(invalidParams(resolved.failure))
  return Result.succeed({
    resolved: resolved.success,
    amount: plan === "studio"
      ? quotaAmount(resolved.success.kind, Option.getOrThrow(quota))
      : creditsAmount(model.value, resolved.success),
    concurrency: PlanTable.limits(table, plan, account.plans[plan], now).concurrency,
    timeLimit: time_limit
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const quotaAmount = (kind: Model.Kind, quota: PlanTable.DailyQuota): Admitted["amount"] => ({
  _tag: "Quota",
  kind,
  limit: kind === "image" ? quota.images : quota.videos
})

const creditsAmount = (model: Model.Model, resolved: Parameters.Resolved): Admitted["amount"] => ({
  _tag: "Credits",
  credits: Price.of(model, resolved),
  imagesOnlyAllowed: resolved.kind === "image"
})

const invalidParams = (issues: ReadonlyArray<Issue.Issue>) =>
  new GenerationError.InvalidParams({
    issues: issues.map(({ message, path }) => ({ path: Issue.formatPath(["params", ...path]), message }))
  })
