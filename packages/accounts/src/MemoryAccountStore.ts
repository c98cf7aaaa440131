/** Stores accounts in the memory of the process, for tests and for hosts that keep nothing. */
import * as MemoryApiKeyStore from "@kinora/api-keys/MemoryApiKeyStore"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Layer, Option } from "effect"
import { type Account, AccountId, emailKey, erasedEmail } from "./Account.ts"
import { AccountStore, type KeyOwner } from "./AccountStore.ts"
import { termsOf } from "./internal/keyRecords.ts"
import { makeKeyLines } from "./internal/memoryKeyLines.ts"
import type { Plan, PlanGroup } from "./Plan.ts"
import type { Movement, MovementName } from "./Wallet.ts"

/** Provides a store in the surrounding memory backend. */
export const layer: Layer.Layer<AccountStore, never, UnitOfWork.MemoryBackend> = Layer.effect(
  AccountStore,
  Effect.map(
    UnitOfWork.MemoryBackend,
    (backend) => {
      const tables = makeTables(backend)
      return AccountStore.of({
        ...accountMethods(tables),
        ...deletionMethods(tables),
        ...movementMethods(tables),
        ...keyMethods(tables),
        ...tables.lines.methods
      })
    }
  )
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Tables = ReturnType<typeof makeTables>

const makeTables = ({ access, makeMap }: UnitOfWork.MemoryBackend["Service"]) => ({
  access,
  accounts: makeMap<AccountId, Account>(),
  accountsByEmail: makeMap<string, AccountId>(),
  keys: MemoryApiKeyStore.makeTable({ makeMap }),
  lines: makeKeyLines({ access, makeMap }),
  movements: makeMap<string, Movement>()
})

const change = ({ accounts }: Tables, id: AccountId, change: (account: Account) => Account): void => {
  const account = accounts.get(id)
  if (account !== undefined) accounts.set(id, change(account))
}

const accountMethods = (tables: Tables) => {
  const { access, accounts, accountsByEmail } = tables
  const findAccount = (id: AccountId) => access(() => Option.fromUndefinedOr(accounts.get(id)))
  return {
    insertAccount: (account) =>
      access(() => {
        const key = emailKey(account.email)
        if (accountsByEmail.has(key)) return false
        accountsByEmail.set(key, account.id)
        accounts.set(account.id, account)
        return true
      }),
    findAccount,
    findAccountByEmail: (emailKey) =>
      access(() => {
        const id = accountsByEmail.get(emailKey)
        return Option.fromUndefinedOr(id === undefined ? undefined : accounts.get(id))
      }),
    listAccounts: ({ before, emailKeyPart, limit, status }) =>
      access(() =>
        Array.from(accounts.values())
          .filter((account) =>
            emailKey(account.email).includes(emailKeyPart) &&
            (status === undefined || account.status === status) &&
            (before === undefined || account.id < before)
          )
          .toSorted((a, b) => a.id < b.id ? 1 : -1)
          .slice(0, limit)
      ),
    // The memory backend runs one unit at a time, so no lock is needed.
    lockAccount: findAccount,
    saveEmail: (id, email) =>
      access(() => {
        const account = accounts.get(id)
        const owner = accountsByEmail.get(emailKey(email))
        if (account === undefined || (owner !== undefined && owner !== id)) return false
        accountsByEmail.delete(emailKey(account.email))
        accountsByEmail.set(emailKey(email), id)
        accounts.set(id, { ...account, email })
        return true
      }),
    saveStatus: (id, status, deletedAt) =>
      access(() =>
        change(tables, id, ({ deletedAt: _, ...account }) => ({ ...account, status, ...deletedAt && { deletedAt } }))
      ),
    savePlan: (id, group, plan) =>
      access(() => change(tables, id, (account) => ({ ...account, plans: { ...account.plans, [group]: plan } }))),
    findDuePlans: ({ endedBy, limit, renewableBy }) =>
      access(() => {
        const ofGroup = ({ id, plans }: Account, group: PlanGroup) =>
          Option.toArray<Plan<string>>(plans[group])
            .filter(({ autoRenew, periodEnd }) =>
              DateTime.isLessThanOrEqualTo(periodEnd, autoRenew ? renewableBy : endedBy)
            )
            .map(({ periodEnd }) => ({ account: id, group, periodEnd }))
        return Array.from(accounts.values())
          .flatMap((account) => groups.flatMap((group) => ofGroup(account, group)))
          .toSorted((a, b) =>
            DateTime.Order(a.periodEnd, b.periodEnd) || compare(a.account, b.account) || compare(a.group, b.group)
          )
          .slice(0, limit)
          .map(({ account, group }) => ({ account, group }))
      })
  } satisfies Partial<AccountStore["Service"]>
}

const deletionMethods = (tables: Tables) => {
  const { access, accounts } = tables
  return {
    erase: (id) => access(() => erase(tables, id)),
    findDeleted: (before, limit) =>
      access(() =>
        Array.from(accounts.values())
          .flatMap(({ deletedAt, id, status }) => status === "deleted" && deletedAt ? [{ id, deletedAt }] : [])
          .filter(({ deletedAt }) => DateTime.isLessThan(deletedAt, before))
          .toSorted((a, b) => DateTime.Order(a.deletedAt, b.deletedAt))
          .slice(0, limit)
          .map(({ id }) => id)
      )
  } satisfies Partial<AccountStore["Service"]>
}

const movementMethods = (tables: Tables) => {
  const { access, movements } = tables
  return {
    findMovement: (account, kind, reference) =>
      access(() => Option.fromUndefinedOr(movements.get(nameOf({ account, kind, reference })))),
    listMovements: ({ account, before, limit }) =>
      access(() => {
        const found = Array.from(movements.values()).filter((movement) => movement.account === account).toSorted(
          newestFirst
        )
        const start = before === undefined ? 0 : found.findIndex(isNamed(before)) + 1
        return before !== undefined && start === 0 ? [] : found.slice(start, start + limit)
      }),
    saveMovement: (movement) =>
      access(() => {
        const { account, balanceCents } = movement
        const name = nameOf(movement)
        if (movements.has(name)) throw new Error(`The movement ${name} exists already`)
        movements.set(name, movement)
        change(tables, account, (account) => ({ ...account, balanceCents }))
      })
  } satisfies Partial<AccountStore["Service"]>
}

const keyMethods = (tables: Tables) => {
  const { access, keys, lines } = tables
  return {
    ...MemoryApiKeyStore.makeStore({ access }, keys),
    deleteEnded: (before, limit) =>
      access(() => {
        const count = MemoryApiKeyStore.deleteEnded(keys, before, limit)
        const kept = new Set(keys.all().map(({ line }) => line))
        lines.remove((line) => !kept.has(line))
        return count
      }),
    findOwners: (hashes) => access(() => hashes.flatMap((hash) => ownerOf(tables, hash)))
  } satisfies Partial<AccountStore["Service"]>
}

const ownerOf = ({ accounts, keys, lines }: Tables, hash: string): ReadonlyArray<KeyOwner> => {
  const key = keys.findByHash(hash)
  const id = key === undefined ? undefined : AccountId.parse(key.owner)
  const account = id === undefined ? undefined : accounts.get(id)
  return key === undefined || account === undefined || Option.isSome(key.revokedAt)
    ? []
    : [{
      hash,
      key: key.id,
      terms: termsOf(key),
      budgetLine: lines.isLimited(key.line) ? Option.some(key.line) : Option.none(),
      lastUsedAt: key.lastUsedAt,
      account
    }]
}

const erase = (tables: Tables, id: AccountId): void => {
  const { accounts, accountsByEmail, keys, lines } = tables
  const account = accounts.get(id)
  if (account === undefined) return
  const email = erasedEmail(id)
  accountsByEmail.delete(emailKey(account.email))
  accountsByEmail.set(emailKey(email), id)
  accounts.set(id, { ...account, email, status: "erased" })
  keys.delete(keys.all().filter(({ owner }) => owner === id))
  lines.remove((_, account) => account === id)
}

const groups = ["studio", "credits"] as const

const newestFirst = (a: Movement, b: Movement): number =>
  DateTime.Order(b.at, a.at) || compare(b.kind, a.kind) || compare(b.reference, a.reference)

const compare = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0

const isNamed = ({ kind, reference }: MovementName) => (movement: Movement): boolean =>
  movement.kind === kind && movement.reference === reference

const nameOf = ({ account, kind, reference }: Pick<Movement, "account" | "kind" | "reference">) =>
  `${account}/${kind}/${reference}`
