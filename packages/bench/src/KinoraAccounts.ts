/** Creates accounts through the services that a product uses. */
import { type Account, Accounts } from "@kinora/accounts"
import { Ledger } from "@kinora/ledger"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"

/** An account and one of its keys. */
export interface AccountWithKey {
  readonly id: Account.AccountId
  readonly key: string
}

/** Creates accounts with a business plan, 20,000 or other credits, and one key each. */
export const make = Effect.fnUntraced(function*(count: number, credits = 20_000) {
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const sizes = Array.from(
    { length: Math.ceil(count / accountsPerUnit) },
    (_, unit) => Math.min(accountsPerUnit, count - unit * accountsPerUnit)
  )
  const accounts = yield* Effect.forEach(sizes, (size) => atomically(Effect.replicateEffect(makeOne(credits), size)), {
    concurrency: 4
  })
  return accounts.flat()
})

/** Creates a further key of each account. Returns the keys in the order of the accounts. */
export const makeKeys = Effect.fnUntraced(function*(ids: ReadonlyArray<Account.AccountId>) {
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const { createKey } = yield* Accounts.Accounts
  return yield* atomically(
    Effect.forEach(ids, (id) => Effect.map(createKey(id, "bench"), ({ key }) => Redacted.value(key)))
  )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const accountsPerUnit = 50

const makeOne = Effect.fnUntraced(function*(credits: number) {
  const accounts = yield* Accounts.Accounts
  const ledger = yield* Ledger.Ledger
  const name = yield* SecureRandom.SecureRandom.use((random) => random.uuidV7())
  const now = yield* DateTime.now
  const periodEnd = DateTime.add(now, { days: 30 })
  const { id } = yield* accounts.create({ email: `${name}@example.com` })
  yield* accounts.setPlan(id, "credits", Option.some({ tier: "business", periodEnd, autoRenew: false }))
  yield* ledger.grant({ account: id, reference: "plan", kind: "plan", credits, expiresAt: periodEnd, at: now })
  const { key } = yield* accounts.createKey(id, "bench")
  const made: AccountWithKey = { id, key: Redacted.value(key) }
  return made
})
