/** Stores accounts in the memory of the process, for tests and for hosts that keep nothing. */
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Layer, Option } from "effect"
import { type Account, type AccountId, emailKey, erasedEmail } from "./Account.ts"
import { AccountStore, type KeyOwner, type KeyUse } from "./AccountStore.ts"
import type { ApiKey, KeyId } from "./ApiKey.ts"
import { makeKeyLines } from "./internal/memoryKeyLines.ts"
import { hasExpired } from "./KeyTerms.ts"
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
  keys: makeMap<KeyId, ApiKey>(),
  keysByHash: makeMap<string, KeyId>(),
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
  const { access, keys, keysByHash, lines } = tables
  const keysOf = (account: AccountId) => Array.from(keys.values()).filter((key) => key.account === account)
  return {
    countKeys: (account, at) =>
      access(() =>
        keysOf(account).filter(({ revokedAt, terms }) => Option.isNone(revokedAt) && !hasExpired(terms, at)).length
      ),
    insertKey: (key, hash) =>
      access(() => {
        keys.set(key.id, key)
        keysByHash.set(hash, key.id)
      }),
    listKeys: (account, limit) =>
      access(() =>
        keysOf(account).toSorted((a, b) =>
          Number(Option.isSome(a.revokedAt)) - Number(Option.isSome(b.revokedAt)) || (a.id < b.id ? 1 : -1)
        ).slice(0, limit).map(lines.withBudget)
      ),
    findKey: (account, id) =>
      access(() =>
        Option.fromUndefinedOr(keys.get(id)).pipe(
          Option.filter((key) => key.account === account),
          Option.map(lines.withBudget)
        )
      ),
    saveExpiry: (id, expiresAt) =>
      access(() => {
        const key = keys.get(id)
        if (key !== undefined) keys.set(id, { ...key, terms: { ...key.terms, expiresAt: Option.some(expiresAt) } })
      }),
    saveName: (id, name) =>
      access(() => {
        const key = keys.get(id)
        if (key !== undefined) keys.set(id, { ...key, name })
      }),
    revokeKey: (account, id, at) =>
      access(() => {
        const key = keys.get(id)
        if (key === undefined || key.account !== account) return Option.none()
        const revoked = { ...key, revokedAt: Option.orElseSome(key.revokedAt, () => at) }
        keys.set(id, revoked)
        return Option.some(lines.withBudget(revoked))
      }),
    revokeKeys: (account, at) =>
      access(() =>
        keysOf(account).forEach((key) =>
          keys.set(key.id, { ...key, revokedAt: Option.orElseSome(key.revokedAt, () => at) })
        )
      ),
    deleteRevokedKeys: (before, limit) => access(() => deleteRevokedKeys(tables, before, limit)),
    findOwners: (hashes) => access(() => hashes.flatMap((hash) => ownerOf(tables, hash))),
    noteUses: (uses) => access(() => uses.forEach((use) => noteUse(tables, use)))
  } satisfies Partial<AccountStore["Service"]>
}

const ownerOf = ({ accounts, keys, keysByHash, lines }: Tables, hash: string): ReadonlyArray<KeyOwner> => {
  const id = keysByHash.get(hash)
  const key = id === undefined ? undefined : keys.get(id)
  const account = key === undefined ? undefined : accounts.get(key.account)
  return key === undefined || account === undefined || Option.isSome(key.revokedAt)
    ? []
    : [{
      hash,
      key: key.id,
      terms: key.terms,
      budgetLine: lines.budgetLineOf(key),
      lastUsedAt: key.lastUsedAt,
      account
    }]
}

const noteUse = ({ keys }: Tables, { at, key: id }: KeyUse): void => {
  const key = keys.get(id)
  const isDue = key !== undefined &&
    !Option.exists(key.lastUsedAt, (last) => DateTime.isGreaterThan(last, DateTime.subtract(at, { minutes: 1 })))
  if (isDue) keys.set(id, { ...key, lastUsedAt: Option.some(at) })
}

const erase = (tables: Tables, id: AccountId): void => {
  const { accounts, accountsByEmail, keys, keysByHash, lines } = tables
  const account = accounts.get(id)
  if (account === undefined) return
  const email = erasedEmail(id)
  accountsByEmail.delete(emailKey(account.email))
  accountsByEmail.set(emailKey(email), id)
  accounts.set(id, { ...account, email, status: "erased" })
  for (const [hash, key] of Array.from(keysByHash.entries())) {
    if (keys.get(key)?.account === id) keysByHash.delete(hash)
  }
  for (const key of Array.from(keys.values())) {
    if (key.account === id) keys.delete(key.id)
  }
  lines.remove((_, account) => account === id)
}

const deleteRevokedKeys = ({ keys, keysByHash, lines }: Tables, before: DateTime.Utc, limit: number): number => {
  const endOf = ({ revokedAt, terms: { expiresAt } }: ApiKey) =>
    Math.min(...[revokedAt, expiresAt].map((end) => Option.isSome(end) ? end.value.epochMilliseconds : Infinity))
  const old = new Set(
    Array.from(keys.values())
      .filter((key) => endOf(key) < before.epochMilliseconds)
      .toSorted((a, b) => endOf(a) - endOf(b))
      .slice(0, limit)
      .map(({ id }) => id)
  )
  for (const [hash, id] of Array.from(keysByHash.entries())) {
    if (old.has(id)) keysByHash.delete(hash)
  }
  old.forEach((id) => keys.delete(id))
  const kept = new Set(Array.from(keys.values()).map(({ line }) => line))
  lines.remove((line) => !kept.has(line))
  return old.size
}

const groups = ["studio", "credits"] as const

const newestFirst = (a: Movement, b: Movement): number =>
  DateTime.Order(b.at, a.at) || compare(b.kind, a.kind) || compare(b.reference, a.reference)

const compare = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0

const isNamed = ({ kind, reference }: MovementName) => (movement: Movement): boolean =>
  movement.kind === kind && movement.reference === reference

const nameOf = ({ account, kind, reference }: Pick<Movement, "account" | "kind" | "reference">) =>
  `${account}/${kind}/${reference}`
