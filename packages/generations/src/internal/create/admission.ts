/** Decides whether an account may create a job, and on which terms. Pure. */
import { PlanTable } from "@kinora/accounts"
import type { Account } from "@kinora/accounts/Account"
import { Issue, type Model, Parameters, Price } from "@kinora/catalog"
import type { ChargeCommand } from "@kinora/ledger/Books"
import { DateTime, Duration, Option, Result } from "effect"
import * as CreditLots from "../../CreditLots.ts"
import type { Generation } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"
import type { ModelStatus } from "../../ModelStatuses.ts"

/** Terms of a job: its resolved parameters, its price and its limits. */
export interface JobTerms {
  /** Id of the model, also if the request has an alias. */
  readonly model: string
  readonly resolved: Parameters.Resolved
  /** Amount to charge. */
  readonly amount: ChargeCommand["amount"]
  /** Slots of the account in this plan group at the time of the request. */
  readonly concurrency: number
  /** Share of the account in the workers in this plan group at the time of the request. */
  readonly weight: number
  /** Maximum run time. */
  readonly timeLimit: Duration.Duration
}

/** Returns the price of a job in credits, 0 for one that a quota pays. */
export const creditsOf = ({ amount }: Pick<JobTerms, "amount">): number =>
  amount._tag === "Credits" ? amount.credits : 0

/** The part of a create command that its terms depend on. */
export interface AdmissionRequest {
  readonly account: Account
  readonly plan: Generation["plan"]
  readonly model: string
  readonly params: unknown
  readonly trialAllowed?: boolean | undefined
}

/** The models of a service and the benefits of each plan tier. */
export interface Offer {
  readonly find: (model: string) => Option.Option<Model.Model>
  readonly planTable: PlanTable.PlanTable
  /** Returns the status of a model now. */
  readonly statusOf: (model: Model.Model) => ModelStatus
}

/** Checks the model, then the plan, then the parameters. Returns the terms, or the first refusal. */
export const admit = (
  request: AdmissionRequest,
  { find, planTable, statusOf }: Offer,
  now: DateTime.Utc
): Result.Result<JobTerms, GenerationError.Refusal> =>
  Result.gen(function*() {
    const { account, params, plan, trialAllowed = false } = request
    const model = yield* availableModel(find(request.model), request.model, statusOf, now)
    const quota = PlanTable.dailyQuota(planTable, account.plans.studio, now)
    if (plan === "studio") yield* assertStudio(model, quota)
    const resolved = yield* Result.mapError(Parameters.resolve(model, params), invalidParams)
    const { concurrency, weight } = PlanTable.limits(planTable, plan, account.plans[plan], now)
    return {
      model: model.id,
      resolved,
      amount: plan === "studio"
        ? quotaAmount(resolved.kind, Option.getOrThrow(quota))
        : creditsAmount(model, resolved, trialAllowed),
      concurrency,
      weight,
      timeLimit: model.time_limit
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const availableModel = (
  model: Option.Option<Model.Model>,
  id: string,
  statusOf: Offer["statusOf"],
  now: DateTime.Utc
): Result.Result<Model.Model, GenerationError.Refusal> => {
  if (Option.isNone(model) || model.value.status === "withdrawn") {
    return Result.fail(new GenerationError.ModelNotFound({ model: id }))
  }
  const { retryAt, status } = statusOf(model.value)
  if (status !== "paused") return Result.succeed(model.value)
  const retryAfter = Option.map(retryAt, (at) => Duration.max(DateTime.distance(now, at), retryAfterMin))
  return Result.fail(new GenerationError.ModelUnavailable({ model: id, retryAfter: Option.getOrNull(retryAfter) }))
}

const retryAfterMin = Duration.seconds(1)

const assertStudio = (
  { id, studio_eligible }: Model.Model,
  quota: Option.Option<PlanTable.DailyQuota>
): Result.Result<void, GenerationError.Refusal> => {
  if (Option.isNone(quota)) return Result.fail(new GenerationError.PlanInactive({ plan: "studio" }))
  return studio_eligible
    ? Result.void
    : Result.fail(new GenerationError.ModelNotInPlan({ model: id, plan: "studio" }))
}

const quotaAmount = (kind: Model.Kind, quota: PlanTable.DailyQuota): JobTerms["amount"] => ({
  _tag: "Quota",
  kind,
  limit: kind === "image" ? quota.images : quota.videos
})

const creditsAmount = (
  model: Model.Model,
  resolved: Parameters.Resolved,
  trialAllowed: boolean
): JobTerms["amount"] => ({
  _tag: "Credits",
  credits: Price.of(model, resolved),
  purpose: resolved.kind === "image" ? CreditLots.imagePurpose : undefined,
  kindsAllowed: trialAllowed ? ["trial" satisfies CreditLots.Kind] : []
})

const invalidParams = (issues: ReadonlyArray<Issue.Issue>) =>
  new GenerationError.InvalidParams({
    issues: issues.map(({ message, path }) => ({ path: Issue.formatPath(["params", ...path]), message }))
  })
