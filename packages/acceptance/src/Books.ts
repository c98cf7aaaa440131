/** The services on a site's database, in this process: they open accounts and verify what hosts left behind. */
import { Accounts, type KeyBudget, type Plan } from "@kinora/accounts"
import { Generations } from "@kinora/generations"
import { Host, Settings } from "@kinora/hosting"
import { Ledger } from "@kinora/ledger"
import { Scheduler } from "@kinora/scheduler"
import { DateTime, Effect, Layer, Option, Redacted, Semaphore } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Site } from "./Site.ts"

/** Every service of a host that runs no jobs. On PGlite, no other process can use the site meanwhile. */
export const layer = ({ environment }: Site) =>
  Layer.fresh(Layer.unwrap(Effect.map(Settings.load(environment), Host.layer)))

/**
 * Runs an effect on the services of `layer`. Calls run one at a time: while a PGlite starts, which blocks the process for
 * seconds, connections to a Postgres would time out.
 */
export const use = <A, E>(site: Site, effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof layer>>>) =>
  turn.withPermit(Effect.provide(effect, layer(site)))

/** Options of an account. */
export interface AccountOptions {
  readonly credits: number
  /** Default `pro`. */
  readonly studio?: Plan.StudioTier
  /** Default `pro`. */
  readonly tier?: Plan.CreditsTier
  /** Number of API keys. Default 1. */
  readonly keys?: number
  /** The budget of each key. Default: none. */
  readonly budget?: Partial<KeyBudget.KeyBudget>
}

/** An account and its API keys; `key` is the first of them. */
export interface TestAccount {
  readonly id: string
  readonly key: string
  readonly keys: ReadonlyArray<string>
}

/** Opens an account with an active plan in both groups. */
export const openAccount = Effect.fn("Books.openAccount")(function*(options: AccountOptions) {
  const { budget = {}, credits, keys: count = 1, studio = "pro", tier = "pro" } = options
  const accounts = yield* Accounts.Accounts
  const ledger = yield* Ledger.Ledger
  const at = yield* DateTime.now
  const periodEnd = DateTime.add(at, { days: 30 })
  const name = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
  const { id } = yield* accounts.create({ email: `${name}@example.com` })
  yield* accounts.setPlan(id, "studio", Option.some({ tier: studio, periodEnd, autoRenew: false }))
  yield* accounts.setPlan(id, "credits", Option.some({ tier, periodEnd, autoRenew: false }))
  yield* ledger.grant({ account: id, reference: "start", kind: "plan", credits, expiresAt: periodEnd, at })
  const keys = yield* Effect.forEach(
    Array.from({ length: count }),
    (_, n) => accounts.createKey(id, `key ${n}`, {}, budget)
  )
  const [key, ...others] = keys.map(({ key }) => Redacted.value(key))
  const account: TestAccount = { id, key: key ?? "", keys: [key ?? "", ...others] }
  return account
})

/** Opens several accounts with the same options. */
export const openAccounts = (count: number, options: AccountOptions) =>
  Effect.forEach(Array.from({ length: count }), () => openAccount(options))

/** Every discrepancy in the ledger and in the scheduler's counters, and the ledger's totals. */
export const verify = Effect.gen(function*() {
  const ledger = yield* Ledger.Ledger
  const scheduler = yield* Scheduler.Scheduler
  const { discrepancies, totals } = yield* ledger.verify()
  return { problems: [...discrepancies, ...yield* scheduler.verify], totals }
})

/** Counts an account's charges and refunds, and the credits that it has consumed. */
export const movementsOf = Effect.fn("Books.movementsOf")(function*(account: string) {
  const ledger = yield* Ledger.Ledger
  const transactions = yield* ledger.entries({ account, limit: 1_000 })
  const of = (wanted: "charge" | "refund") => transactions.filter(({ kind }) => kind === wanted)
  const sum = (wanted: "charge" | "refund") => of(wanted).reduce((total, { amount }) => total + amount, 0)
  return { charges: of("charge").length, refunds: of("refund").length, consumed: sum("charge") - sum("refund") }
})

/** Counts the completed jobs of the accounts. */
export const completedJobs = Effect.fn("Books.completedJobs")(function*(accounts: ReadonlyArray<TestAccount>) {
  const generations = yield* Generations.Generations
  const today = yield* DateTime.now
  const span = {
    from: DateTime.formatIsoDateUtc(DateTime.subtract(today, { days: 1 })),
    to: DateTime.formatIsoDateUtc(today)
  }
  const rows = yield* Effect.forEach(accounts, ({ id }) => generations.usage(id, span))
  return rows.flat().reduce((total, { completed }) => total + completed, 0)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const turn = Semaphore.makeUnsafe(1)
