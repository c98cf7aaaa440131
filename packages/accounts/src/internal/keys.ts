/** API keys with their budgets, over `Keys` of `@kinora/api-keys`. */
import { ApiKeyStore } from "@kinora/api-keys/ApiKeyStore"
import * as ApiKeysKeys from "@kinora/api-keys/Keys"
import type { Verification } from "@kinora/api-keys/Verification"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect } from "effect"
import type { AccountId } from "../Account.ts"
import * as AccountsError from "../AccountsError.ts"
import { AccountStore } from "../AccountStore.ts"
import * as ApiKey from "../ApiKey.ts"
import type { Identity } from "../Identity.ts"
import * as KeyBudget from "../KeyBudget.ts"
import type { Keys } from "../Keys.ts"
import * as KeyTerms from "../KeyTerms.ts"
import { type AccountChanges, notDeleted, orNotFound, refuse } from "./accountChanges.ts"
import { makeBudgets, validBudget } from "./keyBudgets.ts"
import { translated, validName } from "./keyErrors.ts"
import { metadataOf, toRecord } from "./keyRecords.ts"

/** Options for `makeKeys`. */
export interface KeysOptions {
  readonly accounts: AccountChanges
  readonly evict: Verification<Identity>["evict"]
  /** Maximum number of active keys of an account. Default 100. */
  readonly keysMax: number | undefined
}

/** Creates the methods of `Accounts` for keys. */
export const makeKeys = Effect.fnUntraced(function*({ accounts: { get, open }, evict, keysMax }: KeysOptions) {
  const store = yield* AccountStore
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const { changeOf, withBudget, withBudgets } = makeBudgets(store)
  const keys = yield* makeStored({ evict, keysMax })

  /** Locks the account, unless it is deleted. Its keys in the cache stay. */
  const lock = Effect.fnUntraced(function*(account: AccountId) {
    yield* notDeleted(yield* orNotFound(account, yield* store.lockAccount(account)))
  })

  const methods: Omit<Keys, "spending"> = {
    createKey: Effect.fn("Accounts.createKey")(
      function*(account, name, terms = {}, budget = {}, createdBy = null, budgetAuthor = "operator") {
        yield* validName(name)
        const allTerms = { ...KeyTerms.unrestricted, ...terms }
        const problem = KeyTerms.problemOf(allTerms, yield* DateTime.now)
        if (problem !== undefined) return yield* refuse(new AccountsError.KeyTermsInvalid({ problem }))
        const limits = yield* validBudget({ ...KeyBudget.unlimited, ...budget })
        yield* lock(account)
        const { key, record } = yield* translated(
          keys.create({ owner: account, name, terms: allTerms, metadata: metadataOf(allTerms), createdBy })
        )
        const lineBudget = { budget: limits, budgetMax: budgetAuthor === "operator" ? limits : KeyBudget.unlimited }
        if (!KeyBudget.isUnlimited(limits)) yield* store.saveBudget(account, record.line, lineBudget)
        return { key, record: toRecord(account, record, lineBudget) }
      },
      atomically
    ),

    rollKey: Effect.fn("Accounts.rollKey")(function*(account, id, overlap, createdBy = null) {
      yield* lock(account)
      const { key, record } = yield* translated(keys.roll({ owner: account, id, overlap, createdBy }))
      return { key, record: yield* withBudget(account, record) }
    }, atomically),

    changeBudget: Effect.fn("Accounts.changeBudget")(function*(account, key, limits, author = "operator") {
      yield* open(account)
      return yield* changeOf(account, yield* translated(keys.get(account, key)), limits, author)
    }, atomically),

    renameKey: Effect.fn("Accounts.renameKey")(function*(account, key, name) {
      yield* validName(name)
      yield* open(account)
      return yield* withBudget(account, yield* translated(keys.rename(account, key, name)))
    }, atomically),

    listKeys: Effect.fn("Accounts.listKeys")(function*(account) {
      yield* get(account)
      return yield* withBudgets(account, yield* translated(keys.list(account)))
    }),

    getKey: Effect.fn("Accounts.getKey")(function*(account, key) {
      return yield* withBudget(account, yield* translated(keys.get(account, key)))
    }),

    revokeKey: Effect.fn("Accounts.revokeKey")(function*(account, key) {
      return yield* withBudget(account, yield* translated(keys.revoke(account, key)))
    }, atomically),

    deleteRevokedKeys: Effect.fn("Accounts.deleteRevokedKeys")((age, limit) => keys.deleteEnded(age, limit))
  }
  return methods
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Creates the keys without models and budgets. */
const makeStored = Effect.fnUntraced(function*({ evict, keysMax }: Pick<KeysOptions, "evict" | "keysMax">) {
  const make = ApiKeysKeys.make({
    prefix: ApiKey.prefix,
    keysMax,
    metadataCharsMax,
    evict: (changed) =>
      evict(({ account, keyId }) => "id" in changed ? keyId === changed.id : account.id === changed.owner)
  })
  return yield* Effect.provideService(make, ApiKeyStore, yield* AccountStore)
})

/** The models of a key, with `KeyTerms.modelsMax` ids of which every character is escaped. */
const metadataCharsMax = KeyTerms.modelsMax * (6 * KeyTerms.modelCharsMax + 3) + 100
