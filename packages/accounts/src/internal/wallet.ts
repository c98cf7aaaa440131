/** Deposits to the balance, debits, and payments of plans. */
import { Pipelining, UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Option } from "effect"
import type { Account, AccountId } from "../Account.ts"
import * as AccountsError from "../AccountsError.ts"
import { AccountStore } from "../AccountStore.ts"
import type { Plan, PlanGroup } from "../Plan.ts"
import * as Wallet from "../Wallet.ts"
import { type AccountChanges, refuse } from "./accountChanges.ts"

/** Creates the methods of `Accounts` for the balance. */
export const makeWallet = Effect.fnUntraced(function*({ get, open }: AccountChanges) {
  const store = yield* AccountStore
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const move = makeMove(store)

  /** Books an amount once per reference. */
  const book = (kind: "debit" | "deposit") =>
    Effect.fnUntraced(function*(id: AccountId, { cents, reference }: Wallet.MovementOptions) {
      if (!Wallet.isAmount(cents) || reference === "" || reference.length > Wallet.referenceCharsMax) {
        return yield* refuse(new AccountsError.AmountInvalid({ centsMax: Wallet.amountMax }))
      }
      const signed = kind === "debit" ? -cents : cents
      const [account, earlier] = yield* Pipelining.both(open(id), store.findMovement(id, kind, reference))
      if (Option.isSome(earlier)) {
        return earlier.value.cents === signed
          ? { movement: earlier.value, isNew: false }
          : yield* refuse(new AccountsError.ReferenceReused({ reference }))
      }
      if (account.balanceCents + signed < 0) {
        const { balanceCents } = account
        return yield* refuse(new AccountsError.BalanceTooLow({ requiredCents: cents, availableCents: balanceCents }))
      }
      return { movement: yield* move(account, kind, reference, signed), isNew: true }
    }, atomically)

  const deposit = book("deposit")
  const debit = book("debit")

  return {
    deposit: Effect.fn("Accounts.deposit")((id: AccountId, options: Wallet.MovementOptions) => deposit(id, options)),

    debit: Effect.fn("Accounts.debit")((id: AccountId, options: Wallet.MovementOptions) => debit(id, options)),

    listMovements: Effect.fn("Accounts.listMovements")(function*(query: Wallet.MovementQuery) {
      yield* get(query.account)
      return yield* store.listMovements(query)
    })
  }
})

/** A period of a plan, or the rest of one, with its price. */
interface Payment {
  readonly kind: Exclude<Wallet.MovementKind, "debit" | "deposit">
  readonly group: PlanGroup
  readonly plan: Plan<string>
  readonly priceCents: number
}

/** Makes a function that pays from the balance of a locked account, which is at least the price. */
export const makePay = Effect.map(AccountStore, (store) => {
  const move = makeMove(store)
  return Effect.fnUntraced(function*(
    account: Account,
    { group, kind, plan: { periodEnd, tier }, priceCents }: Payment
  ) {
    const reference = `${group} ${tier} ${DateTime.formatIso(periodEnd)}`
    // A plan can be set back to a period for which it was paid before.
    const isPaid = Option.isSome(yield* store.findMovement(account.id, kind, reference))
    if (priceCents > 0 && !isPaid) yield* move(account, kind, reference, -priceCents)
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Changes the balance of a locked account. */
const makeMove = (store: AccountStore["Service"]) =>
  Effect.fnUntraced(function*(account: Account, kind: Wallet.MovementKind, reference: string, cents: number) {
    const movement: Wallet.Movement = {
      account: account.id,
      kind,
      reference,
      cents,
      balanceCents: account.balanceCents + cents,
      at: yield* DateTime.now
    }
    yield* Pipelining.atCommit(store.saveMovement(movement))
    return movement
  })
