/**
 * Accounts, their API keys (D3), their plans and what these are paid from (D25).
 *
 * A host answers for a key from memory for at most `revocationWithin` after it
 * last read the key's record. That is the bound within which a revocation, a
 * suspension or a new plan takes effect on the other hosts; the host that made
 * the change forgets the key when it commits.
 */
import { Folding, type StorageError, UnitOfWork } from "@kinora/persistence"
import { Clock, Context, DateTime, Duration, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Account, AccountId, type AccountStatus, emailKey, isEmail } from "./Account.ts"
import * as AccountsError from "./AccountsError.ts"
import { AccountStore, type PlanName } from "./AccountStore.ts"
import * as ApiKey from "./ApiKey.ts"
import type { Identity } from "./Identity.ts"
import * as KeyCache from "./internal/keyCache.ts"
import * as KeyUses from "./internal/keyUses.ts"
import * as Plan from "./Plan.ts"
import type { PlanTable } from "./PlanTable.ts"
import * as Renewal from "./Renewal.ts"
import * as Wallet from "./Wallet.ts"

/** A key that was just made. This is the only time that it can be seen. */
export interface NewKey {
  readonly record: ApiKey.ApiKey
  readonly key: Redacted.Redacted
}

/** What methods fail with: a refusal, or the storage. */
export type Failure = AccountsError.AccountsError | StorageError.StorageError

/** Accounts, API keys and plans. */
export class Accounts extends Context.Service<Accounts, {
  /** Makes an account. The address must not be another account's, in whatever letter case. */
  readonly create: (options: { readonly email: string }) => Effect.Effect<Account, Failure>

  /** The account with its plans. */
  readonly get: (account: AccountId) => Effect.Effect<Account, Failure>

  /** The account with this address, in whatever letter case. */
  readonly findByEmail: (email: string) => Effect.Effect<Option.Option<Account>, StorageError.StorageError>

  /** Has the account's requests refused (D40, `account_suspended`). Again changes nothing. */
  readonly suspend: (account: AccountId) => Effect.Effect<Account, Failure>

  /** Ends a suspension. Without one it changes nothing. */
  readonly resume: (account: AccountId) => Effect.Effect<Account, Failure>

  /** Makes a key and shows it this once. An account has at most `keysMax` keys that are not revoked. */
  readonly createKey: (account: AccountId, name: string) => Effect.Effect<NewKey, Failure>

  /** The records of all keys that are not revoked, then of revoked ones, newest first; twice `keysMax` at most. */
  readonly listKeys: (account: AccountId) => Effect.Effect<ReadonlyArray<ApiKey.ApiKey>, Failure>

  /** Ends a key's use: here at once, on every host within `revocationWithin` (D3). Again changes nothing. */
  readonly revokeKey: (account: AccountId, key: ApiKey.KeyId) => Effect.Effect<ApiKey.ApiKey, Failure>

  /** Sets the plan of one group, or ends it. Says nothing of money, lots or quota: those are the ledger's. */
  readonly setPlan: <Group extends Plan.PlanGroup>(
    account: AccountId,
    group: Group,
    plan: Option.Option<Plan.Plan<Plan.Tiers[Group]>>
  ) => Effect.Effect<void, Failure>

  /** Adds to the balance, once for its reference. A second one of the same amount answers with the first. */
  readonly deposit: (
    account: AccountId,
    options: { readonly reference: string; readonly cents: number }
  ) => Effect.Effect<{ readonly movement: Wallet.Movement; readonly isNew: boolean }, Failure>

  /** Plans that `renewPlan` has something to do for, or will within `Renewal.leadSeconds`; the oldest first. */
  readonly duePlans: (limit: number) => Effect.Effect<ReadonlyArray<PlanName>, StorageError.StorageError>

  /**
   * Pays a plan that is due and goes on from the balance, or ends one that is over
   * (D25). Each period of a tier is paid once, however many hosts ask and whatever
   * the plan is set back to. What a renewed plan brings is for the caller to give,
   * once for the period, in the same unit.
   */
  readonly renewPlan: <Group extends Plan.PlanGroup>(
    account: AccountId,
    group: Group,
    table: PlanTable
  ) => Effect.Effect<Renewal.Decision<Group>, Failure>

  /** The account's plans. A plan may have ended: ask `Plan.active`. */
  readonly plans: (account: AccountId) => Effect.Effect<Plan.Plans, Failure>

  /**
   * Whose key this is, or none when nobody's: malformed, unknown or revoked. A
   * suspended account is answered like any other; its status says so.
   *
   * A malformed key costs no look-up, and a key that was seen within
   * `revocationWithin` no statement. Look-ups that wait together are one
   * statement. The key's use is noted in the background, about once a minute; a
   * note that cannot be written is dropped.
   */
  readonly authenticate: (
    key: Redacted.Redacted
  ) => Effect.Effect<Option.Option<Identity>, StorageError.StorageError>
}>()("@kinora/accounts/Accounts") {}

/** What the service can be told. */
export interface AccountsOptions {
  /** How long a host may answer for a key from memory. Default 5 seconds, the bound of D3. */
  readonly revocationWithin?: Duration.Input | undefined
  /** Keys that a host remembers, and as many again that it knows not to exist. Default 10 000. */
  readonly keysCachedMax?: number | undefined
  /** Keys of one account that are not revoked. Default 100. */
  readonly keysMax?: number | undefined
  /** How long uses are collected before they are written. Default 10 seconds. */
  readonly usesWrittenWithin?: Duration.Input | undefined
}

/** The service over the surrounding store. The scope ends the writing of uses. */
export const make = Effect.fnUntraced(function*(options: AccountsOptions = {}) {
  const { keysCachedMax = 10_000, keysMax = 100, revocationWithin = "5 seconds", usesWrittenWithin = "10 seconds" } =
    options
  const store = yield* AccountStore
  const { afterCommit, atomically, isOpen } = yield* UnitOfWork.UnitOfWork
  const random = yield* SecureRandom.SecureRandom
  const cache = KeyCache.make({ maxAge: Duration.toNanosUnsafe(revocationWithin), entriesMax: keysCachedMax })
  const uses = yield* KeyUses.make({ store, writtenWithin: usesWrittenWithin, keysMax: keysCachedMax })

  const create = Effect.fn("Accounts.create")(function*({ email }: { readonly email: string }) {
    if (!isEmail(email)) return yield* refuse(new AccountsError.EmailInvalid())
    const id = yield* Effect.provideService(AccountId.make, SecureRandom.SecureRandom, random)
    const createdAt = yield* DateTime.now
    const account: Account = { id, email, status: "active", plans: Plan.none, balanceCents: 0, createdAt }
    return (yield* store.insertAccount(account)) ? account : yield* refuse(new AccountsError.EmailTaken({ email }))
  })

  const get = Effect.fn("Accounts.get")(function*(id: AccountId) {
    return yield* orNotFound(id, yield* store.findAccount(id))
  })

  const findByEmail = Effect.fn("Accounts.findByEmail")((email: string) => store.findAccountByEmail(emailKey(email)))

  /** Loads the account, locked; what this host remembers of it is forgotten when the unit commits. */
  const openAccount = Effect.fnUntraced(function*(id: AccountId) {
    const account = yield* orNotFound(id, yield* store.lockAccount(id))
    yield* afterCommit(Effect.sync(() => cache.forget((identity) => identity.account.id === id)))
    return account
  })

  const setStatus = Effect.fnUntraced(function*(id: AccountId, status: AccountStatus) {
    const account = yield* openAccount(id)
    yield* store.saveStatus(id, status)
    return { ...account, status }
  }, atomically)

  const suspend = Effect.fn("Accounts.suspend")((id: AccountId) => setStatus(id, "suspended"))

  const resume = Effect.fn("Accounts.resume")((id: AccountId) => setStatus(id, "active"))

  const setPlan = Effect.fn("Accounts.setPlan")(function*<Group extends Plan.PlanGroup>(
    id: AccountId,
    group: Group,
    plan: Option.Option<Plan.Plan<Plan.Tiers[Group]>>
  ) {
    yield* openAccount(id)
    yield* store.savePlan(id, group, plan)
  }, atomically)

  const deposit = Effect.fn("Accounts.deposit")(function*(
    id: AccountId,
    { cents, reference }: { readonly reference: string; readonly cents: number }
  ) {
    if (!Wallet.isDeposit(cents) || reference === "" || reference.length > Wallet.referenceCharsMax) {
      return yield* refuse(new AccountsError.DepositInvalid({ centsMax: Wallet.depositMax }))
    }
    const account = yield* openAccount(id)
    const earlier = yield* store.findMovement(id, "deposit", reference)
    if (Option.isSome(earlier)) {
      return earlier.value.cents === cents
        ? { movement: earlier.value, isNew: false }
        : yield* refuse(new AccountsError.ReferenceReused({ reference }))
    }
    return { movement: yield* move(account, "deposit", reference, cents), isNew: true }
  }, atomically)

  /** Moves the balance of a locked account. */
  const move = Effect.fnUntraced(function*(
    account: Account,
    kind: Wallet.Movement["kind"],
    reference: string,
    cents: number
  ) {
    const movement: Wallet.Movement = {
      account: account.id,
      kind,
      reference,
      cents,
      balanceCents: account.balanceCents + cents,
      at: yield* DateTime.now
    }
    yield* store.saveMovement(movement)
    return movement
  })

  const duePlans = Effect.fn("Accounts.duePlans")(function*(limit: number) {
    const endedBy = yield* DateTime.now
    return yield* store.findDuePlans({
      endedBy,
      renewableBy: DateTime.add(endedBy, { seconds: Renewal.leadSeconds }),
      limit
    })
  })

  const renewPlan = Effect.fn("Accounts.renewPlan")(function*<Group extends Plan.PlanGroup>(
    id: AccountId,
    group: Group,
    table: PlanTable
  ) {
    const account = yield* openAccount(id)
    const plan: Option.Option<Plan.Plan<Plan.Tiers[Group]>> = account.plans[group]
    const decision = Renewal.decide(group, plan, account.balanceCents, table, yield* DateTime.now)
    if (decision._tag === "Lapsed") yield* store.savePlan(id, group, Option.none())
    if (decision._tag === "Renewed") {
      yield* store.savePlan(id, group, Option.some(decision.plan))
      const { plan: { periodEnd, tier }, priceCents } = decision
      const reference = `${group} ${tier} ${DateTime.formatIso(periodEnd)}`
      // A plan can be set back to a period after which it was renewed before.
      const isPaid = Option.isSome(yield* store.findMovement(id, "renewal", reference))
      if (priceCents > 0 && !isPaid) yield* move(account, "renewal", reference, -priceCents)
    }
    return decision
  }, atomically)

  const plans = Effect.fn("Accounts.plans")((id: AccountId) => Effect.map(get(id), ({ plans }) => plans))

  const insertKey = Effect.fnUntraced(function*(record: ApiKey.ApiKey, hash: string) {
    yield* orNotFound(record.account, yield* store.lockAccount(record.account))
    if ((yield* store.countKeys(record.account)) >= keysMax) {
      return yield* refuse(new AccountsError.TooManyKeys({ account: record.account, keysMax }))
    }
    yield* store.insertKey(record, hash)
  }, atomically)

  const createKey = Effect.fn("Accounts.createKey")(function*(account: AccountId, name: string) {
    if (!ApiKey.isName(name)) {
      return yield* refuse(new AccountsError.KeyNameInvalid({ charsMax: ApiKey.nameCharsMax }))
    }
    const key = yield* ApiKey.make
    const record: ApiKey.ApiKey = {
      id: yield* ApiKey.KeyId.make,
      account,
      name,
      prefix: ApiKey.prefix(key),
      createdAt: yield* DateTime.now,
      lastUsedAt: Option.none(),
      revokedAt: Option.none()
    }
    yield* insertKey(record, ApiKey.hash(key))
    return { record, key }
  }, Effect.provideService(SecureRandom.SecureRandom, random))

  const listKeys = Effect.fn("Accounts.listKeys")(function*(account: AccountId) {
    yield* get(account)
    return yield* store.listKeys(account, 2 * keysMax)
  })

  const revokeKey = Effect.fn("Accounts.revokeKey")(function*(account: AccountId, key: ApiKey.KeyId) {
    const record = yield* store.revokeKey(account, key, yield* DateTime.now)
    if (Option.isNone(record)) return yield* refuse(new AccountsError.KeyNotFound({ account, key }))
    yield* afterCommit(Effect.sync(() => cache.forget(({ keyId }) => keyId === key)))
    return record.value
  }, atomically)

  /** Reads what a set of hashes belongs to, except what another set has read meanwhile. */
  const load = Effect.fnUntraced(function*(hashes: ReadonlyArray<string>) {
    const now = yield* Clock.monotonicTimeNanos
    const answers = new Map<string, KeyCache.Answer>()
    const missing = new Set<string>()
    for (const hash of hashes) {
      const known = cache.get(hash, now)
      if (known === undefined) missing.add(hash)
      else answers.set(hash, known)
    }
    if (missing.size > 0) {
      const keep = cache.startLoading(now)
      const owners = new Map((yield* store.findOwners([...missing])).map((owner) => [owner.hash, owner]))
      // What an open unit reads may be undone, so it is not remembered.
      const isKept = !(yield* isOpen)
      for (const hash of missing) {
        const answer = KeyCache.answerOf(owners.get(hash))
        if (isKept) keep(hash, answer)
        answers.set(hash, answer)
      }
    }
    return hashes.map((hash) => answers.get(hash) ?? KeyCache.answerOf(undefined))
  })

  const lookUp = yield* Folding.make({ name: "Accounts.lookUp", membersMax: 256, setsMax: 2, run: load })

  // No span and no generator: this runs for every request, and mostly answers from memory.
  const authenticate = (key: Redacted.Redacted) =>
    Effect.withFiber<Option.Option<Identity>, StorageError.StorageError>((fiber) => {
      if (!ApiKey.isWellFormed(Redacted.value(key))) return Effect.succeedNone
      const hash = ApiKey.hash(key)
      const clock = Context.get(fiber.context, Clock.Clock)
      const answer = cache.get(hash, clock.monotonicTimeNanosUnsafe())
      if (answer !== undefined) {
        uses.note(answer, clock.currentTimeMillisUnsafe())
        return answer.effect
      }
      return Effect.flatMap(lookUp(hash), (answer) => {
        uses.note(answer, clock.currentTimeMillisUnsafe())
        return answer.effect
      })
    })

  return Accounts.of({
    create,
    get,
    findByEmail,
    suspend,
    resume,
    createKey,
    listKeys,
    revokeKey,
    setPlan,
    deposit,
    duePlans,
    renewPlan,
    plans,
    authenticate
  })
})

/** The service over the surrounding store, with options. */
export const layerWith = (
  options: AccountsOptions
): Layer.Layer<Accounts, never, AccountStore | UnitOfWork.UnitOfWork | SecureRandom.SecureRandom> =>
  Layer.effect(Accounts, make(options))

/** `layerWith` with its defaults. */
export const layer: Layer.Layer<
  Accounts,
  never,
  AccountStore | UnitOfWork.UnitOfWork | SecureRandom.SecureRandom
> = layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const refuse = (reason: AccountsError.AccountsErrorReason) => new AccountsError.AccountsError({ reason })

const orNotFound = (account: AccountId, found: Option.Option<Account>) =>
  Option.isSome(found)
    ? Effect.succeed(found.value)
    : Effect.fail(refuse(new AccountsError.AccountNotFound({ account })))
