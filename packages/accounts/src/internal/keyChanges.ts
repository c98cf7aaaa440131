/** Changing the budgets and the names of API keys. */
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Option, Result } from "effect"
import type { AccountId } from "../Account.ts"
import * as AccountsError from "../AccountsError.ts"
import { AccountStore } from "../AccountStore.ts"
import { isName, type KeyId, nameCharsMax } from "../ApiKey.ts"
import * as KeyBudget from "../KeyBudget.ts"
import { hasExpired } from "../KeyTerms.ts"
import { type AccountChanges, refuse } from "./accountChanges.ts"

/** Creates the methods of `Accounts` that change a key. */
export const makeKeyChanges = Effect.fnUntraced(function*({ open }: AccountChanges) {
  const store = yield* AccountStore
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const findActive = yield* makeFindActive

  return {
    changeBudget: Effect.fn("Accounts.changeBudget")(function*(
      account: AccountId,
      key: KeyId,
      limits: Partial<KeyBudget.KeyBudget>,
      author: KeyBudget.BudgetAuthor = "operator"
    ) {
      yield* open(account)
      const record = yield* findActive(account, key)
      const { budget: former, line } = record
      if (Object.keys(limits).length === 0) return { changed: record, former }
      const changed = KeyBudget.change(record, limits, author)
      if (Result.isFailure(changed)) return yield* refuse(new AccountsError.BudgetFixed(changed.failure))
      const { budget } = changed.success
      yield* validBudget(budget)
      const isLimited = ![former, budget].every(KeyBudget.isUnlimited)
      if (isLimited) yield* store.saveBudget(account, line, changed.success)
      return { changed: { ...record, ...changed.success }, former }
    }, atomically),

    renameKey: Effect.fn("Accounts.renameKey")(function*(account: AccountId, key: KeyId, name: string) {
      yield* validName(name)
      yield* open(account)
      const record = yield* findActive(account, key)
      yield* store.saveName(key, name)
      return { ...record, name }
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

/** Fails if a text cannot be the name of a key. */
export const validName = (name: string) =>
  isName(name)
    ? Effect.void
    : Effect.fail(refuse(new AccountsError.KeyNameInvalid({ charsMax: nameCharsMax })))

/** Returns a budget, or fails with what is wrong with it. */
export const validBudget = (budget: KeyBudget.KeyBudget) => {
  const problem = KeyBudget.problemOf(budget)
  return problem === undefined
    ? Effect.succeed(budget)
    : Effect.fail(refuse(new AccountsError.KeyBudgetInvalid({ problem })))
}
