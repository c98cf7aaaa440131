/** Plans and balances in the operator API. A plan grants no credits when it is set. */
import { Account, Accounts } from "@kinora/accounts"
import type { Plan, PlanGroup, Tiers } from "@kinora/accounts/Plan"
import type { Movement } from "@kinora/accounts/Wallet"
import { PlanChanges } from "@kinora/generations"
import { AdminDeposit } from "@kinora/http-api/AdminAccount"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { UnitOfWork } from "@kinora/persistence"
import { type DateTime, Effect, Option, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { answers, parseId } from "../../middleware/refusals.ts"
import { toWire } from "../../wire/adminAccount.ts"

/** The handlers. */
export const layer = HttpApiBuilder.group(
  AdminApi,
  "plans",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* Accounts.Accounts
    const changes = yield* PlanChanges.PlanChanges
    const { atomically } = yield* UnitOfWork.UnitOfWork

    /** Sets or ends a plan, and returns the account as read in the same transaction. */
    const save = answers(
      ["AccountNotFound"],
      function*<Group extends PlanGroup>(text: string, group: Group, plan: Option.Option<Plan<Tiers[Group]>>) {
        const id = yield* parseId(Account.AccountId.parse, text)
        const account = yield* atomically(Effect.andThen(changes.set(id, group, plan), accounts.get(id)))
        const tier = Option.match(plan, { onNone: () => null, onSome: ({ tier }) => tier })
        yield* Effect.logInfo("An operator set a plan", { account: id, group, tier })
        return toWire(account)
      }
    )

    return handlers.handleAll({
      setStudioPlan: ({ params, payload }) => save(params.id, "studio", planOf(payload)),
      endStudioPlan: ({ params }) => Effect.asVoid(save(params.id, "studio", Option.none())),
      setCreditsPlan: ({ params, payload }) => save(params.id, "credits", planOf(payload)),
      endCreditsPlan: ({ params }) => Effect.asVoid(save(params.id, "credits", Option.none())),

      deposit: answers(["AccountNotFound", "ReferenceReused"], function*({ params, payload }) {
        const { reference, usd_cents: cents } = payload
        const id = yield* parseId(Account.AccountId.parse, params.id)
        const { isNew, movement } = yield* accounts.deposit(id, { reference, cents })
        if (isNew) yield* Effect.logInfo("An operator added to a balance", { account: id, cents })
        return HttpServerResponse.jsonUnsafe(encodeDeposit(depositOf(movement)), { status: isNew ? 201 : 200 })
      })
    })
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

const encodeDeposit = Schema.encodeSync(AdminDeposit)

const depositOf = ({ at, balanceCents, cents, reference }: Movement): AdminDeposit => ({
  reference,
  usd_cents: cents,
  balance_usd_cents: balanceCents,
  created_at: at
})
