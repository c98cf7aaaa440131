/** Creates accounts through the services that a product uses. */
import { type Account, Accounts } from "@kinora/accounts"
import { Ledger } from "@kinora/ledger"
import { UnitOfWork } from "@kinora/persistence"
import { Array as Arr, DateTime, Effect, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"

/** An account and one of its keys. */
export interface AccountWithKey {
  readonly id: Account.AccountId
  readonly key: string
}

/** Creates accounts with a business plan, 20,000 or other credits, and one key each. */
export const make = (count: number, credits = 20_000) => inUnits(Array.from({ length: count }, () => credits), makeOne)

/** Creates a further key of each account. Returns the keys in the order of the accounts. */
export const makeKeys = (ids: ReadonlyArray<Account.AccountId>) => inUnits(ids, makeKey)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Few enough for a unit to commit in time on a machine with much other work. */
const accountsPerUnit = 20

/** Runs an effect per item, some of them in each unit of work. */
const inUnits = Effect.fnUntraced(function*<A, B, E, R>(
  items: ReadonlyArray<A>,
  make: (item: A) => Effect.Effect<B, E, R>
) {
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const made = yield* Effect.forEach(
    Arr.chunksOf(items, accountsPerUnit),
    (chunk) => atomically(Effect.forEach(chunk, make)),
    { concurrency: 4 }
  )
  return made.flat()
})

const makeKey = (id: Account.AccountId) =>
  Accounts.Accounts.use(({ createKey }) => Effect.map(createKey(id, "bench"), ({ key }) => Redacted.value(key)))

const makeOne = Effect.fnUntraced(function*(credits: number) {
  const accounts = yield* Accounts.Accounts
  const ledger = yield* Ledger.Ledger
  const name = yield* SecureRandom.SecureRandom.use((random) => random.uuidV7())
  const now = yield* DateTime.now
  const periodEnd = DateTime.add(now, { days: 30 })
  const { id } = yield* accounts.create({ email: `${name}@example.com` })
  yield* accounts.setPlan(id, "credits", Option.some({ tier: "business", periodEnd, autoRenew: false }))
  yield* ledger.grant({ account: id, reference: "plan", kind: "plan", credits, expiresAt: periodEnd, at: now })
  const made: AccountWithKey = { id, key: yield* makeKey(id) }
  return made
})
