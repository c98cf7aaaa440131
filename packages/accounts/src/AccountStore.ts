/** The port of account storage. `Accounts` decides; a store loads and writes. */
import type { ApiKeyStore } from "@kinora/api-keys/ApiKeyStore"
import type { StorageError } from "@kinora/persistence"
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { Account, AccountId, AccountStatus } from "./Account.ts"
import type { KeyId } from "./ApiKey.ts"
import type { LineBudget } from "./KeyBudget.ts"
import type { Day, DayUse, KeyLine } from "./KeySpending.ts"
import type { KeyTerms } from "./KeyTerms.ts"
import type { Plan, PlanGroup, Tiers } from "./Plan.ts"
import type { Movement, MovementQuery } from "./Wallet.ts"

/** An active key and its account. */
export interface KeyOwner {
  readonly hash: string
  readonly key: KeyId
  readonly terms: KeyTerms
  /** The line of the key, if the line has a budget. */
  readonly budgetLine: Option.Option<KeyId>
  readonly lastUsedAt: Option.Option<DateTime.Utc>
  readonly account: Account
}

/** The account and group of a plan. */
export interface PlanName {
  readonly account: AccountId
  readonly group: PlanGroup
}

/** Which accounts to list. */
export interface AccountQuery {
  /** Lists only accounts whose `Account.emailKey` contains this text. */
  readonly emailKeyPart: string
  /** Lists only accounts with this status. */
  readonly status?: AccountStatus | undefined
  /** Lists only accounts that were created before this one. */
  readonly before?: AccountId | undefined
  readonly limit: number
}

/** A line of keys with its budget. */
export interface BudgetOfLine extends LineBudget {
  readonly line: KeyId
}

/**
 * Stores accounts, keys, plans and balances. Of the methods of `ApiKeyStore`, whose owners are ids of accounts, `lockOwner`
 * does nothing, since `Accounts` locks the account, and `deleteEnded` deletes a line with its last key.
 */
export class AccountStore extends Context.Service<
  AccountStore,
  ApiKeyStore["Service"] & {
    /** Inserts the account. Returns `false` if an account with this `Account.emailKey` exists. */
    readonly insertAccount: (account: Account) => Effect.Effect<boolean, StorageError.StorageError>

    readonly findAccount: (id: AccountId) => Effect.Effect<Option.Option<Account>, StorageError.StorageError>

    readonly findAccountByEmail: (
      emailKey: string
    ) => Effect.Effect<Option.Option<Account>, StorageError.StorageError>

    /** Returns the accounts that match, newest first. */
    readonly listAccounts: (query: AccountQuery) => Effect.Effect<ReadonlyArray<Account>, StorageError.StorageError>

    /** Locks the account until the unit ends, then returns it. The lock covers its plans, its balance and the number of its keys. */
    readonly lockAccount: (id: AccountId) => Effect.Effect<Option.Option<Account>, StorageError.StorageError>

    /** Sets the status of a locked account, and when it was deleted. */
    readonly saveStatus: (
      id: AccountId,
      status: AccountStatus,
      deletedAt?: DateTime.Utc
    ) => Effect.Effect<void, StorageError.StorageError>

    /** Sets a locked account to `erased` with its `Account.erasedEmail`, and deletes its keys with their lines. */
    readonly erase: (id: AccountId) => Effect.Effect<void, StorageError.StorageError>

    /** Returns deleted accounts that are not erased and were deleted before `before`, oldest deletion first. */
    readonly findDeleted: (
      before: DateTime.Utc,
      limit: number
    ) => Effect.Effect<ReadonlyArray<AccountId>, StorageError.StorageError>

    /** Sets the email address of a locked account. Returns `false` if another account has its `Account.emailKey`. */
    readonly saveEmail: (id: AccountId, email: string) => Effect.Effect<boolean, StorageError.StorageError>

    /** Sets the plan of a locked account, or removes it. */
    readonly savePlan: <Group extends PlanGroup>(
      id: AccountId,
      group: Group,
      plan: Option.Option<Plan<Tiers[Group]>>
    ) => Effect.Effect<void, StorageError.StorageError>

    /** Returns plans that ended by `endedBy`, and plans that renew and end by `renewableBy`, oldest first, then by account and group. */
    readonly findDuePlans: (options: {
      readonly endedBy: DateTime.Utc
      readonly renewableBy: DateTime.Utc
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<PlanName>, StorageError.StorageError>

    /** Returns the movement of the account with this kind and reference. */
    readonly findMovement: (
      account: AccountId,
      kind: Movement["kind"],
      reference: string
    ) => Effect.Effect<Option.Option<Movement>, StorageError.StorageError>

    /** Returns movements of an account, newest first. Movements of the same time are in the order of kind and reference, descending. */
    readonly listMovements: (query: MovementQuery) => Effect.Effect<ReadonlyArray<Movement>, StorageError.StorageError>

    /** Inserts a movement of a locked account, and sets its balance. */
    readonly saveMovement: (movement: Movement) => Effect.Effect<void, StorageError.StorageError>

    /** Returns the budgets of the lines that have one, or had one, in any order. */
    readonly findBudgets: (
      lines: ReadonlyArray<KeyId>
    ) => Effect.Effect<ReadonlyArray<BudgetOfLine>, StorageError.StorageError>

    /** Sets the budget of a line of keys of a locked account. Waits until the unit that has locked the line ends. */
    readonly saveBudget: (
      account: AccountId,
      line: KeyId,
      budget: LineBudget
    ) => Effect.Effect<void, StorageError.StorageError>

    /** Locks the lines that exist, in the order of their ids, until the unit ends. */
    readonly lockLines: (lines: ReadonlyArray<KeyId>) => Effect.Effect<void, StorageError.StorageError>

    /** Returns the lines that exist with their spending from the day `since` on, in any order. */
    readonly findLines: (
      lines: ReadonlyArray<KeyId>,
      since: Day
    ) => Effect.Effect<ReadonlyArray<KeyLine>, StorageError.StorageError>

    /** Sets what locked lines have used on these days, each of which is named once. */
    readonly saveUse: (uses: ReadonlyArray<DayUse>) => Effect.Effect<void, StorageError.StorageError>

    /** Deletes the spending of days before `before`, oldest first, and returns the number of rows. Skips locked rows. */
    readonly deleteSpending: (before: Day, limit: number) => Effect.Effect<number, StorageError.StorageError>

    /** Returns the owners of the active keys with these hashes, in any order, in one statement. */
    readonly findOwners: (
      hashes: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<KeyOwner>, StorageError.StorageError>
  }
>()("@kinora/accounts/AccountStore") {}
