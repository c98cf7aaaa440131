/** Where accounts, keys and plans are kept. Rules are not here: `Accounts` decides, a store loads and applies. */
import type { StorageError } from "@kinora/persistence"
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { Account, AccountId, AccountStatus } from "./Account.ts"
import type { ApiKey, KeyId } from "./ApiKey.ts"
import type { Plan, PlanGroup, Tiers } from "./Plan.ts"
import type { Movement } from "./Wallet.ts"

/** A key that is not revoked, with the account that it belongs to. */
export interface KeyOwner {
  readonly hash: string
  readonly key: KeyId
  readonly lastUsedAt: Option.Option<DateTime.Utc>
  readonly account: Account
}

/** A plan, by what leads to it. */
export interface PlanName {
  readonly account: AccountId
  readonly group: PlanGroup
}

/** A key and when it was used. */
export interface KeyUse {
  readonly key: KeyId
  readonly at: DateTime.Utc
}

/** Port of the storage that `Accounts` needs. */
export class AccountStore extends Context.Service<AccountStore, {
  /** Adds the account, unless one with this `Account.emailKey` exists; answers whether it was added. */
  readonly insertAccount: (account: Account) => Effect.Effect<boolean, StorageError.StorageError>

  readonly findAccount: (id: AccountId) => Effect.Effect<Option.Option<Account>, StorageError.StorageError>

  readonly findAccountByEmail: (
    emailKey: string
  ) => Effect.Effect<Option.Option<Account>, StorageError.StorageError>

  /** Loads the account and keeps other units from changing it, its keys' number and its plans until this one ends. */
  readonly lockAccount: (id: AccountId) => Effect.Effect<Option.Option<Account>, StorageError.StorageError>

  /** Sets the status of a locked account. */
  readonly saveStatus: (id: AccountId, status: AccountStatus) => Effect.Effect<void, StorageError.StorageError>

  /** Sets, or with none removes, the plan of a locked account. */
  readonly savePlan: <Group extends PlanGroup>(
    id: AccountId,
    group: Group,
    plan: Option.Option<Plan<Tiers[Group]>>
  ) => Effect.Effect<void, StorageError.StorageError>

  /** Plans whose period ended at `endedBy` or before, and those that go on and end by `renewableBy`; the oldest first. */
  readonly findDuePlans: (options: {
    readonly endedBy: DateTime.Utc
    readonly renewableBy: DateTime.Utc
    readonly limit: number
  }) => Effect.Effect<ReadonlyArray<PlanName>, StorageError.StorageError>

  /** The account's movement of this kind and reference. */
  readonly findMovement: (
    account: AccountId,
    kind: Movement["kind"],
    reference: string
  ) => Effect.Effect<Option.Option<Movement>, StorageError.StorageError>

  /** Records a movement of a locked account, and sets its balance. */
  readonly saveMovement: (movement: Movement) => Effect.Effect<void, StorageError.StorageError>

  /** How many keys of a locked account are not revoked. */
  readonly countKeys: (account: AccountId) => Effect.Effect<number, StorageError.StorageError>

  readonly insertKey: (key: ApiKey, hash: string) => Effect.Effect<void, StorageError.StorageError>

  /** Keys that are not revoked before revoked ones, newest first, at most `limit`. */
  readonly listKeys: (
    account: AccountId,
    limit: number
  ) => Effect.Effect<ReadonlyArray<ApiKey>, StorageError.StorageError>

  /** Revokes the account's key unless it was before; answers its record, or none when the account has no such key. */
  readonly revokeKey: (
    account: AccountId,
    key: KeyId,
    at: DateTime.Utc
  ) => Effect.Effect<Option.Option<ApiKey>, StorageError.StorageError>

  /** The owners of those hashes that belong to keys which are not revoked, in any order, in one statement. */
  readonly findOwners: (
    hashes: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<KeyOwner>, StorageError.StorageError>

  /**
   * Notes the uses in one statement, each key at most once. A key whose last noted
   * use is less than a minute older stays as it is, so that many hosts together
   * write once a minute, and so may a key that another unit has locked.
   */
  readonly noteUses: (uses: ReadonlyArray<KeyUse>) => Effect.Effect<void, StorageError.StorageError>
}>()("@kinora/accounts/AccountStore") {}
