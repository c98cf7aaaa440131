/** Plans for operators. What a plan brings in credits is granted apart. */
import { Accounts } from "@kinora/accounts"
import type { Plan, PlanGroup, Tiers } from "@kinora/accounts/Plan"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { UnitOfWork } from "@kinora/persistence"
import { type DateTime, Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { unavailable } from "../refusals.ts"
import { toWire } from "./accountView.ts"
import * as Refusals from "./refusals.ts"

/** The handlers. */
export const layer = HttpApiBuilder.group(
  AdminApi,
  "plans",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* Accounts.Accounts
    const { atomically } = yield* UnitOfWork.UnitOfWork

    /** Sets or ends a plan, and answers with the account as it is in that unit. */
    const save = Effect.fnUntraced(
      function*<Group extends PlanGroup>(text: string, group: Group, plan: Option.Option<Plan<Tiers[Group]>>) {
        const id = yield* Refusals.accountIdOf(text)
        const account = yield* atomically(Effect.andThen(accounts.setPlan(id, group, plan), accounts.get(id)))
        const tier = Option.match(plan, { onNone: () => null, onSome: ({ tier }) => tier })
        yield* Effect.logInfo("An operator set a plan", { account: id, group, tier })
        return toWire(account)
      },
      Effect.catchReasons("AccountsError", { AccountNotFound: Refusals.AccountNotFound }, Refusals.unexpected),
      Effect.catchTag("StorageError", unavailable)
    )

    return handlers
      .handle("setStudioPlan", ({ params, payload }) => save(params.id, "studio", planOf(payload)))
      .handle("endStudioPlan", ({ params }) => Effect.asVoid(save(params.id, "studio", Option.none())))
      .handle("setCreditsPlan", ({ params, payload }) => save(params.id, "credits", planOf(payload)))
      .handle("endCreditsPlan", ({ params }) => Effect.asVoid(save(params.id, "credits", Option.none())))
  })
)

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
