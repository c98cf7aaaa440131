/** Changing the budgets of API keys. */
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Option } from "effect"
import type { AccountId } from "../Account.ts"
import * as AccountsError from "../AccountsError.ts"
import { AccountStore } from "../AccountStore.ts"
import type { KeyId } from "../ApiKey.ts"
import * as KeyBudget from "../KeyBudget.ts"
import { hasExpired } from "../KeyTerms.ts"
import { type AccountChanges, refuse } from "./accountChanges.ts"

/** Creates the method of `Accounts` for budgets. */
export const makeBudgets = Effect.fnUntraced(function*({ open }: AccountChanges) {
  const store = yield* AccountStore
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const findActive = yield* makeFindActive

  return {
    changeBudget: Effect.fn("Accounts.changeBudget")(function*(
      account: AccountId,
      key: KeyId,
      change: Partial<KeyBudget.KeyBudget>
    ) {
      yield* open(account)
      const record = yield* findActive(account, key)
      const budget = yield* validBudget({ ...record.budget, ...change })
      if (Object.keys(change).length === 0) return { changed: record, former: record.budget }
      const isLimited = ![record.budget, budget].every(KeyBudget.isUnlimited)
      if (isLimited) yield* store.saveBudget(account, record.line, budget)
      return { changed: { ...record, budget }, former: record.budget }
    }, atomically)
  }
})

/** Makes a function that returns a key of a locked account, unless the key has ended. */
export const makeFindActive = Effect.map(
  AccountStore,
  (store) =>
    Effect.fnUntraced(function*(account: AccountId, key: KeyId) {
      const found = yield* store.findKey(account, key)
      if (Option.isNone(found)) return yield* refuse(new AccountsError.KeyNotFound({ account, key }))
      const { revokedAt, terms } = found.value
      return Option.isSome(revokedAt) || hasExpired(terms, yield* DateTime.now)
        ? yield* refuse(new AccountsError.KeyEnded({ account, key }))
        : found.value
    })
)

/** Returns a budget, or fails with what is wrong with it. */
export const validBudget = (budget: KeyBudget.KeyBudget) => {
  const problem = KeyBudget.problemOf(budget)
  return problem === undefined
    ? Effect.succeed(budget)
    : Effect.fail(refuse(new AccountsError.KeyBudgetInvalid({ problem })))
}
