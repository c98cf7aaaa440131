/** Reading and changing the budgets of API keys. */
import type * as ApiKeys from "@kinora/api-keys/ApiKey"
import { DateTime, Effect, Option, Result } from "effect"
import type { AccountId } from "../Account.ts"
import * as AccountsError from "../AccountsError.ts"
import type { AccountStore } from "../AccountStore.ts"
import type { ApiKey } from "../ApiKey.ts"
import * as KeyBudget from "../KeyBudget.ts"
import { hasExpired } from "../KeyTerms.ts"
import { refuse } from "./accountChanges.ts"
import { toRecord } from "./keyRecords.ts"

/** Creates the functions. */
export const makeBudgets = (store: AccountStore["Service"]) => {
  /** Returns the records of keys of an account, with the budgets of their lines. */
  const withBudgets = Effect.fnUntraced(function*(account: AccountId, keys: ReadonlyArray<ApiKeys.ApiKey>) {
    if (keys.length === 0) return []
    const found = yield* store.findBudgets(Array.from(new Set(keys.map(({ line }) => line))))
    const budgets = new Map(found.map((budget) => [budget.line, budget]))
    return keys.map((key) => toRecord(account, key, budgets.get(key.line) ?? unlimited))
  })

  const withBudget = Effect.fnUntraced(function*(account: AccountId, key: ApiKeys.ApiKey) {
    const [budget = unlimited] = yield* store.findBudgets([key.line])
    return toRecord(account, key, budget)
  })

  return {
    withBudget,
    withBudgets,

    /** Changes limits of the budget of a key of a locked account, unless the key has ended. */
    changeOf: Effect.fnUntraced(function*(
      account: AccountId,
      key: ApiKeys.ApiKey,
      limits: Partial<KeyBudget.KeyBudget>,
      author: KeyBudget.BudgetAuthor
    ) {
      if (Option.isSome(key.revokedAt) || hasExpired(key.terms, yield* DateTime.now)) {
        return yield* refuse(new AccountsError.KeyEnded({ owner: account, id: key.id }))
      }
      const record: ApiKey = yield* withBudget(account, key)
      const { budget: former, line } = record
      if (Object.keys(limits).length === 0) return { changed: record, former }
      const changed = KeyBudget.change(record, limits, author)
      if (Result.isFailure(changed)) return yield* refuse(new AccountsError.BudgetFixed(changed.failure))
      const { budget } = changed.success
      yield* validBudget(budget)
      const isLimited = ![former, budget].every(KeyBudget.isUnlimited)
      if (isLimited) yield* store.saveBudget(account, line, changed.success)
      return { changed: { ...record, ...changed.success }, former }
    })
  }
}

/** Returns a budget, or fails with what is wrong with it. */
export const validBudget = (budget: KeyBudget.KeyBudget) => {
  const problem = KeyBudget.problemOf(budget)
  return problem === undefined
    ? Effect.succeed(budget)
    : Effect.fail(refuse(new AccountsError.KeyBudgetInvalid({ problem })))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const unlimited: KeyBudget.LineBudget = { budget: KeyBudget.unlimited, budgetMax: KeyBudget.unlimited }
