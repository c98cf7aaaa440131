/**
 * Accounts, their API keys, their plans, and the balances that pay for the plans.
 *
 * A host caches the account of a key for at most `revocationWithin`. Within this time a
 * revocation, a suspension or a new plan takes effect on other hosts. On the host that
 * made the change it takes effect when the change commits.
 */
import * as Verification from "@kinora/api-keys/Verification"
import { Backend, type StorageError, Sweep, type UnitOfWork } from "@kinora/persistence"
import { Context, type Duration, Effect, Layer, Option, type Redacted } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { Account, AccountId, AccountSearch } from "./Account.ts"
import type { AccountsError } from "./AccountsError.ts"
import { AccountStore, type KeyOwner, type PlanName } from "./AccountStore.ts"
import * as ApiKey from "./ApiKey.ts"
import type { Identity } from "./Identity.ts"
import { makeAccountChanges } from "./internal/accountChanges.ts"
import { makeDeletion } from "./internal/deletion.ts"
import { makeKeys } from "./internal/keys.ts"
import { makeKeySpendings } from "./internal/keySpendings.ts"
import { makeList } from "./internal/listAccounts.ts"
import { makeSubscriptions } from "./internal/subscriptions.ts"
import { makeWallet } from "./internal/wallet.ts"
import type { Keys } from "./Keys.ts"
import * as MemoryAccountStore from "./MemoryAccountStore.ts"
import type { Plan, PlanGroup, Plans, Tiers } from "./Plan.ts"
import type { PlanTable } from "./PlanTable.ts"
import type * as Renewal from "./Renewal.ts"
import * as SqlAccountStore from "./SqlAccountStore.ts"
import type * as Subscription from "./Subscription.ts"
import type { Movement, MovementOptions, MovementQuery } from "./Wallet.ts"

/** A movement, and whether the call made it. */
export interface Booked {
  readonly movement: Movement
  readonly isNew: boolean
}

/** The failures of the service: a rejected command, or the storage. */
export type Failure = AccountsError | StorageError.StorageError

/** Accounts, API keys and plans. */
export class Accounts extends Context.Service<
  Accounts,
  Keys & {
    /** Creates an account. The email address must be unique, ignoring letter case. */
    readonly create: (options: { readonly email: string }) => Effect.Effect<Account, Failure>

    /** Returns the account with its plans. */
    readonly get: (account: AccountId) => Effect.Effect<Account, Failure>

    /** Returns the account with this email address, ignoring letter case. */
    readonly findByEmail: (email: string) => Effect.Effect<Option.Option<Account>, StorageError.StorageError>

    /**
     * Returns the accounts that match, newest first, at most `limit`. `search` matches the id of the account, or any part
     * of its email address, ignoring letter case.
     */
    readonly list: (query: AccountSearch) => Effect.Effect<ReadonlyArray<Account>, StorageError.StorageError>

    /** Changes the email address, which must be unique, ignoring letter case. */
    readonly changeEmail: (account: AccountId, email: string) => Effect.Effect<Account, Failure>

    /** Suspends the account. Its requests are then rejected with `account_suspended`. Idempotent. */
    readonly suspend: (account: AccountId) => Effect.Effect<Account, Failure>

    /** Ends a suspension. Idempotent. */
    readonly resume: (account: AccountId) => Effect.Effect<Account, Failure>

    /**
     * Deletes the account: revokes its keys and removes its plans. Its personal data and its balance stay until it is
     * erased. All other changes are then refused with `AccountDeleted`. Idempotent.
     */
    readonly remove: (account: AccountId) => Effect.Effect<Account, Failure>

    /** Undoes a deletion, except for the keys and plans. Fails with `AccountDeleted` if it was erased. Idempotent. */
    readonly restore: (account: AccountId) => Effect.Effect<Account, Failure>

    /** Returns accounts that were deleted longer than `age` ago and are not erased, oldest deletion first. */
    readonly erasable: (
      age: Duration.Input,
      limit: number
    ) => Effect.Effect<ReadonlyArray<AccountId>, StorageError.StorageError>

    /** Erases the personal data of a deleted account: its email address and its keys. Its movements stay. Ignores other accounts. */
    readonly erase: (account: AccountId) => Effect.Effect<void, Failure>

    /** Sets the plan of one group, or removes it. Does not charge, and does not change credits, quotas or the slots of jobs. */
    readonly setPlan: <Group extends PlanGroup>(
      account: AccountId,
      group: Group,
      plan: Option.Option<Plan<Tiers[Group]>>
    ) => Effect.Effect<void, Failure>

    /** Adds to the balance once per reference. Repeating a deposit with the same amount returns the first one. */
    readonly deposit: (account: AccountId, options: MovementOptions) => Effect.Effect<Booked, Failure>

    /** Takes from the balance once per reference, like `deposit`. The balance is never negative. */
    readonly debit: (account: AccountId, options: MovementOptions) => Effect.Effect<Booked, Failure>

    /** Returns the changes of the balance of an account, newest first, at most `limit`. */
    readonly listMovements: (query: MovementQuery) => Effect.Effect<ReadonlyArray<Movement>, Failure>

    /**
     * Starts a plan that is paid from the balance and renews, or changes the tier of the active one:
     * to a higher tier at once, to a lower one at the end of the period. Idempotent. The caller grants
     * the credits of the decision, once, in the same unit of work.
     */
    readonly subscribe: <Group extends PlanGroup>(
      account: AccountId,
      group: Group,
      tier: Tiers[Group],
      table: PlanTable
    ) => Effect.Effect<Subscription.Decision<Group>, Failure>

    /** Stops the renewal of the active plan of a group, which then ends with its period. Idempotent; `subscribe` with its tier undoes it. */
    readonly stopRenewal: (account: AccountId, group: PlanGroup) => Effect.Effect<void, Failure>

    /** Returns the plans that `renewPlan` has to process now, or within `Renewal.leadSeconds`, oldest first. */
    readonly duePlans: (limit: number) => Effect.Effect<ReadonlyArray<PlanName>, StorageError.StorageError>

    /**
     * Renews a due plan from the balance, or removes it if it has lapsed. Each period of a
     * tier is paid once, however many hosts call it and whatever the plan is set back to.
     * The caller grants the credits of a renewed plan, once per period, in the same unit of
     * work.
     */
    readonly renewPlan: <Group extends PlanGroup>(
      account: AccountId,
      group: Group,
      table: PlanTable
    ) => Effect.Effect<Renewal.Decision<Group>, Failure>

    /** Returns the plans of the account. A plan may have ended; `Plan.active` checks that. */
    readonly plans: (account: AccountId) => Effect.Effect<Plans, Failure>

    /**
     * Returns the identity of a key, or `None` if the key is malformed, unknown or revoked.
     * The account of the identity can be suspended, and the key can have expired or not allow the
     * request: check the status and the terms.
     *
     * A malformed key costs no look-up, and a key that was authenticated within
     * `revocationWithin` no statement. Concurrent look-ups share a statement. The use of a
     * key is recorded in the background, about once a minute; a use that cannot be recorded
     * is dropped.
     */
    readonly authenticate: (
      key: Redacted.Redacted
    ) => Effect.Effect<Option.Option<Identity>, StorageError.StorageError>
  }
>()("@kinora/accounts/Accounts") {}

/** Options for `layerWith` and `layerPostgres`. */
export interface AccountsOptions extends Verification.VerificationLimits {
  /** Maximum number of active keys of an account. Default 100. */
  readonly keysMax?: number | undefined
}

/** Options for `layerSweep`. */
export interface AccountsSweepOptions extends Sweep.LayerSweepOptions {
  /** How long revoked and expired keys are kept and listed; `Duration.infinity`: forever. Default 90 days. */
  readonly revokedKeysKept?: Duration.Input | undefined
}

/** Creates the service over the surrounding store. Records collected uses when the scope closes. */
export const make = Effect.fnUntraced(function*(options: AccountsOptions = {}) {
  const { findOwners, noteUses } = yield* AccountStore
  const { evict, verify } = yield* Verification.make<Identity>({
    ...options,
    prefix: ApiKey.prefix,
    noteUses,
    find: (hashes) => Effect.map(findOwners(hashes), (owners) => owners.map(toFound))
  })
  const accounts = yield* makeAccountChanges(evict)
  const { changeEmail, create, findByEmail, get, plans, resume, setPlan, suspend } = accounts
  return Accounts.of({
    create,
    get,
    findByEmail,
    list: yield* makeList,
    changeEmail,
    suspend,
    resume,
    setPlan,
    plans,
    ...(yield* makeKeys({ accounts, evict, keysMax: options.keysMax })),
    spending: yield* makeKeySpendings,
    ...(yield* makeDeletion(accounts)),
    ...(yield* makeWallet(accounts)),
    ...(yield* makeSubscriptions(accounts)),
    authenticate: verify
  })
})

/** Provides the service over the surrounding store. */
export const layerWith = (
  options: AccountsOptions
): Layer.Layer<Accounts, never, AccountStore | UnitOfWork.UnitOfWork | SecureRandom.SecureRandom> =>
  Layer.effect(Accounts, make(options))

/** Provides the service over the surrounding store, with the default options. */
export const layer: ReturnType<typeof layerWith> = layerWith({})

/** Provides accounts in the memory of the process, for tests. */
export const layerMemory: Backend.MemoryLayer<Accounts> = layer.pipe(
  Backend.memory(MemoryAccountStore.layer)
)

/** Provides accounts in Postgres. Runs the pending migrations of the package while the layer is built. */
export const layerPostgres = (
  options: AccountsOptions = {}
): Backend.PostgresLayer<Accounts> => layerWith(options).pipe(Backend.postgres(SqlAccountStore))

/** Deletes keys that ended long ago, and old spending, in the background, by default 500 per statement and every hour. */
export const layerSweep = (
  { interval = "1 hour", limit = 500, revokedKeysKept = "90 days" }: AccountsSweepOptions = {}
): Layer.Layer<never, never, Accounts> =>
  Layer.mergeAll(
    Sweep.layerAged({
      name: "revoked keys",
      interval,
      limit,
      age: revokedKeysKept,
      run: (age, limit) => Accounts.use(({ deleteRevokedKeys }) => deleteRevokedKeys(age, limit))
    }),
    Sweep.layer({
      name: "old spending of keys",
      interval,
      limit,
      run: (limit) => Accounts.use(({ spending }) => spending.deleteOld(limit))
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const toFound = ({ account, budgetLine, hash, key, lastUsedAt, terms }: KeyOwner): Verification.FoundKey<Identity> => ({
  hash,
  key,
  lastUsedAt,
  value: { account, keyId: key, terms, ...Option.isSome(budgetLine) && { budgetLine: budgetLine.value } }
})
