/** The methods of `Accounts` for API keys. */
import type { StorageError } from "@kinora/persistence"
import type { Duration, Effect } from "effect"
import type { AccountId } from "./Account.ts"
import type { AccountsError } from "./AccountsError.ts"
import type { ApiKey, ChangedKey, KeyId, NewKey } from "./ApiKey.ts"
import type { BudgetAuthor, KeyBudget } from "./KeyBudget.ts"
import type { KeySpendings } from "./KeySpendings.ts"
import type { KeyTerms } from "./KeyTerms.ts"

/** Creates, changes, lists and revokes the API keys of accounts. */
export interface Keys {
  /**
   * Creates a key and returns it this once. Terms and limits of the budget that are omitted
   * restrict nothing. An account has at most `keysMax` active keys. `createdBy` is recorded.
   * Members cannot exceed the limits of `budgetAuthor` `operator`, the default.
   */
  readonly createKey: (
    account: AccountId,
    name: string,
    terms?: Partial<KeyTerms>,
    budget?: Partial<KeyBudget>,
    createdBy?: string | null,
    budgetAuthor?: BudgetAuthor
  ) => Effect.Effect<NewKey, Failure>

  /**
   * Creates a key with the name and the terms of another one and returns it this once. Both
   * have the same budget and share what is used of it. The former key expires after
   * `overlap`, or at its own expiry if that is earlier.
   */
  readonly rollKey: (
    account: AccountId,
    key: KeyId,
    overlap: Duration.Input,
    createdBy?: string | null
  ) => Effect.Effect<NewKey, Failure>

  /**
   * Changes the given limits of the budget of a key and of those with which it shares the
   * budget. Takes effect like a revocation. Jobs count from when there is a budget. Fails with
   * `BudgetFixed` if a member would exceed or remove a limit that an operator has set. Default
   * author: `operator`.
   */
  readonly changeBudget: (
    account: AccountId,
    key: KeyId,
    change: Partial<KeyBudget>,
    author?: BudgetAuthor
  ) => Effect.Effect<ChangedKey, Failure>

  /** Renames a key, and returns its record. */
  readonly renameKey: (account: AccountId, key: KeyId, name: string) => Effect.Effect<ApiKey, Failure>

  /** The spending of keys that have a budget. */
  readonly spending: KeySpendings

  /** Returns the records of active keys, then of revoked and expired ones, newest first, at most twice `keysMax`. */
  readonly listKeys: (account: AccountId) => Effect.Effect<ReadonlyArray<ApiKey>, Failure>

  /** Returns the record of a key of the account, also of a revoked or expired one. */
  readonly getKey: (account: AccountId, key: KeyId) => Effect.Effect<ApiKey, Failure>

  /** Revokes a key: immediately on this host, within `revocationWithin` on others. Idempotent. */
  readonly revokeKey: (account: AccountId, key: KeyId) => Effect.Effect<ApiKey, Failure>

  /**
   * Deletes up to `limit` keys that were revoked or expired longer than `age` ago and returns their
   * number. A deleted key is rejected like a revoked one. `layerSweep` calls it at an interval.
   */
  readonly deleteRevokedKeys: (
    age: Duration.Input,
    limit: number
  ) => Effect.Effect<number, StorageError.StorageError>
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Failure = AccountsError | StorageError.StorageError
