/** The part of `Accounts` that counts what keys with a budget spend. */
import type { StorageError } from "@kinora/persistence"
import type { DateTime, Effect, Option, Result } from "effect"
import type { ApiKey, KeyId } from "./ApiKey.ts"
import type { KeyBudget } from "./KeyBudget.ts"
import type { BudgetExceeded, KeyLines, Spend, Used } from "./KeySpending.ts"

/** A budget, and what is used of it. */
export interface BudgetUse {
  readonly budget: KeyBudget
  readonly used: Used
}

/** Loads and saves what lines of keys spend. `KeySpending` decides. */
export interface KeySpendings {
  /**
   * Locks lines until the unit of work ends, then returns them with their spending from the
   * UTC month of `since` on. Call it inside a unit of work, after all other locks. Without
   * lines, it runs no statement.
   */
  readonly load: (
    lines: ReadonlyArray<KeyId>,
    since: DateTime.Utc
  ) => Effect.Effect<KeyLines, StorageError.StorageError>

  /** Writes the changes of lines that `load` returned in the same unit of work. Without changes, it runs no statement. */
  readonly save: (lines: KeyLines) => Effect.Effect<void, StorageError.StorageError>

  /** Returns what `KeySpending.spend` would decide now. Takes no locks and counts nothing. */
  readonly check: (spend: Spend) => Effect.Effect<Result.Result<boolean, BudgetExceeded>, StorageError.StorageError>

  /** Returns the budget of a line, and what is used of it now; `None` if the line never had one. Takes no locks. */
  readonly budgetOf: (line: KeyId) => Effect.Effect<Option.Option<BudgetUse>, StorageError.StorageError>

  /** Returns what is used of the budgets of keys now, by `ApiKey.line`. Lines without a budget are missing. */
  readonly usedBy: (keys: ReadonlyArray<ApiKey>) => Effect.Effect<ReadonlyMap<KeyId, Used>, StorageError.StorageError>

  /** Deletes the spending of UTC months that ended longer than a day ago, at most `limit` rows, and returns their number. */
  readonly deleteOld: (limit: number) => Effect.Effect<number, StorageError.StorageError>
}
