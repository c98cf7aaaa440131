/** Plans and balances in the operator API. A plan grants no credits when it is set. */
import { Account, Accounts } from "@kinora/accounts"
import type { Plan, PlanGroup, Plans, Tiers } from "@kinora/accounts/Plan"
import type { Movement, MovementName } from "@kinora/accounts/Wallet"
import { PlanChanges } from "@kinora/generations"
import { AdminDeposit, type AdminMovement } from "@kinora/http-api/AdminAccount"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { DateTime, Effect, Option, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { changes, note } from "../../middleware/changes.ts"
import { answers, parseId } from "../../middleware/refusals.ts"
import { toWire } from "../../wire/adminAccount.ts"

/** The handlers. */
export const layer = HttpApiBuilder.group(
  AdminApi,
  "plans",
  Effect.fnUntraced(function*(handlers) {
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

    return handlers.handleAll({
      setStudioPlan: changes(["AccountNotFound"], function*({ params, payload }) {
        return yield* save(params.id, "studio", planOf(payload))
      }),
      endStudioPlan: changes(["AccountNotFound"], function*({ params }) {
        yield* save(params.id, "studio", Option.none())
      }),
      setCreditsPlan: changes(["AccountNotFound"], function*({ params, payload }) {
        return yield* save(params.id, "credits", planOf(payload))
      }),
      endCreditsPlan: changes(["AccountNotFound"], function*({ params }) {
        yield* save(params.id, "credits", Option.none())
      }),

      deposit: changes(["AccountNotFound", "ReferenceReused"], function*({ params, payload }) {
        const { reference, usd_cents: cents } = payload
        const id = yield* parseId(Account.AccountId.parse, params.id)
        const { isNew, movement } = yield* accounts.deposit(id, { reference, cents })
        yield* note({ after: { reference, usd_cents: cents } })
        if (isNew) yield* Effect.logInfo("An operator added to a balance", { account: id, cents })
        return HttpServerResponse.jsonUnsafe(encodeDeposit(depositOf(movement)), { status: isNew ? 201 : 200 })
      }),

      listMovements: answers(["AccountNotFound"], function*({ params, query: { cursor, limit = pageSizeDefault } }) {
        const account = yield* parseId(Account.AccountId.parse, params.id)
        const before = cursor === undefined ? undefined : movementOf(cursor)
        const page = yield* accounts.listMovements({ account, before, limit })
        const last = page.at(-1)
        return {
          data: page.map(movementToWire),
          // A full page can be the last one, and is followed by an empty one then.
          next_cursor: last === undefined || page.length < limit ? null : `${last.kind}:${last.reference}`
        }
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

/** Returns a plan as the audit log records it. */
const recordOf = (group: PlanGroup, plans: Plans) =>
  Option.match<Plan<string>, { readonly [key: string]: string | boolean } | null>(plans[group], {
    onNone: () => null,
    onSome: ({ autoRenew, periodEnd, tier }) => ({
      tier,
      period_end: DateTime.formatIso(periodEnd),
      auto_renew: autoRenew
    })
  })

const pageSizeDefault = 20

/** Returns the movement that a cursor names, which the schema has checked. */
const movementOf = (cursor: string): MovementName => {
  const end = cursor.indexOf(":")
  return { kind: cursor.startsWith("deposit:") ? "deposit" : "renewal", reference: cursor.slice(end + 1) }
}

const movementToWire = (movement: Movement): AdminMovement => ({ kind: movement.kind, ...depositOf(movement) })

const encodeDeposit = Schema.encodeSync(AdminDeposit)

const depositOf = ({ at, balanceCents, cents, reference }: Movement): AdminDeposit => ({
  reference,
  usd_cents: cents,
  balance_usd_cents: balanceCents,
  created_at: at
})
