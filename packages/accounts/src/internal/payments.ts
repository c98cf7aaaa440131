/** Deposits to the balance, and plans that are paid from it. */
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Option } from "effect"
import type { Account, AccountId } from "../Account.ts"
import * as AccountsError from "../AccountsError.ts"
import { AccountStore } from "../AccountStore.ts"
import type * as Plan from "../Plan.ts"
import type { PlanTable } from "../PlanTable.ts"
import * as Renewal from "../Renewal.ts"
import * as Wallet from "../Wallet.ts"
import { type AccountChanges, refuse } from "./accountChanges.ts"

/** Creates the methods of `Accounts` for the balance and for renewals. */
export const makePayments = Effect.fnUntraced(function*({ get, open }: AccountChanges) {
  const store = yield* AccountStore
  const { atomically } = yield* UnitOfWork.UnitOfWork

  const move = makeMove(store)

  const pay = Effect.fnUntraced(function*<Group extends Plan.PlanGroup>(
    account: Account,
    group: Group,
    { plan: { periodEnd, tier }, priceCents }: Renewal.Renewed<Group>
  ) {
    const reference = `${group} ${tier} ${DateTime.formatIso(periodEnd)}`
    // A plan can be set back to a period for which it was paid before.
    const isPaid = Option.isSome(yield* store.findMovement(account.id, "renewal", reference))
    if (priceCents > 0 && !isPaid) yield* move(account, "renewal", reference, -priceCents)
  })

  return {
    deposit: Effect.fn("Accounts.deposit")(function*(
      id: AccountId,
      { cents, reference }: { readonly reference: string; readonly cents: number }
    ) {
      if (!Wallet.isDeposit(cents) || reference === "" || reference.length > Wallet.referenceCharsMax) {
        return yield* refuse(new AccountsError.DepositInvalid({ centsMax: Wallet.depositMax }))
      }
      const account = yield* open(id)
      const earlier = yield* store.findMovement(id, "deposit", reference)
      if (Option.isSome(earlier)) {
        return earlier.value.cents === cents
          ? { movement: earlier.value, isNew: false }
          : yield* refuse(new AccountsError.ReferenceReused({ reference }))
      }
      return { movement: yield* move(account, "deposit", reference, cents), isNew: true }
    }, atomically),

    listMovements: Effect.fn("Accounts.listMovements")(function*(query: Wallet.MovementQuery) {
      yield* get(query.account)
      return yield* store.listMovements(query)
    }),

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
      if (decision._tag === "Lapsed") yield* store.savePlan(id, group, Option.none())
      if (decision._tag === "Renewed") {
        yield* store.savePlan(id, group, Option.some(decision.plan))
        yield* pay(account, group, decision)
      }
      return decision
    }, atomically)
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Changes the balance of a locked account. */
const makeMove = (store: AccountStore["Service"]) =>
  Effect.fnUntraced(function*(account: Account, kind: Wallet.Movement["kind"], reference: string, cents: number) {
    const movement: Wallet.Movement = {
      account: account.id,
      kind,
      reference,
      cents,
      balanceCents: account.balanceCents + cents,
      at: yield* DateTime.now
    }
    yield* store.saveMovement(movement)
    return movement
  })
