/** The services on a site's database, in this process: for accounts that a test needs, and to verify what hosts left. */
import { Accounts, type Plan } from "@kinora/accounts"
import { Host, Settings } from "@kinora/hosting"
import { Ledger } from "@kinora/ledger"
import { Scheduler } from "@kinora/scheduler"
import { DateTime, Effect, Layer, Option, Redacted, Semaphore } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Site } from "./Site.ts"

/** Every service of a host that does not work. On PGlite only while no other process has the site. */
export const layer = ({ environment }: Site) =>
  Layer.fresh(Layer.unwrap(Effect.map(Settings.load(environment), Host.layer)))

/**
 * Runs an effect on the services of `layer`, one at a time in this process: a
 * PGlite that starts keeps it busy for seconds, and meanwhile nobody could connect
 * to a Postgres in time.
 */
export const use = <A, E>(site: Site, effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof layer>>>) =>
  turn.withPermit(Effect.provide(effect, layer(site)))

/** What an account of a test has. */
export interface AccountOptions {
  readonly credits: number
  /** Default `pro`. */
  readonly studio?: Plan.StudioTier
  /** Default `pro`. */
  readonly tier?: Plan.CreditsTier
  /** API keys. Default 1. */
  readonly keys?: number
}

/** An account and its keys, the first of which is `key`. */
export interface TestAccount {
  readonly id: string
  readonly key: string
  readonly keys: ReadonlyArray<string>
}

/** Opens an account with an active plan in both groups. */
export const openAccount = Effect.fn("Books.openAccount")(function*(options: AccountOptions) {
  const { credits, keys: count = 1, studio = "pro", tier = "pro" } = options
  const accounts = yield* Accounts.Accounts
  const ledger = yield* Ledger.Ledger
  const at = yield* DateTime.now
  const periodEnd = DateTime.add(at, { days: 30 })
  const name = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
  const { id } = yield* accounts.create({ email: `${name}@example.com` })
  yield* accounts.setPlan(id, "studio", Option.some({ tier: studio, periodEnd, autoRenew: false }))
  yield* accounts.setPlan(id, "credits", Option.some({ tier, periodEnd, autoRenew: false }))
  yield* ledger.grant({ account: id, reference: "start", kind: "plan", credits, expiresAt: periodEnd, at })
  const keys = yield* Effect.forEach(Array.from({ length: count }), (_, n) => accounts.createKey(id, `key ${n}`))
  const [key, ...others] = keys.map(({ key }) => Redacted.value(key))
  const account: TestAccount = { id, key: key ?? "", keys: [key ?? "", ...others] }
  return account
})

/** Accounts that are all alike. */
export const openAccounts = (count: number, options: AccountOptions) =>
  Effect.forEach(Array.from({ length: count }), () => openAccount(options))

/** Everything that is wrong with the books and the counters, and the credits in them. */
export const verify = Effect.gen(function*() {
  const ledger = yield* Ledger.Ledger
  const scheduler = yield* Scheduler.Scheduler
  const { discrepancies, totals } = yield* ledger.verify()
  return { problems: [...discrepancies, ...yield* scheduler.verify], totals }
})

/** How often an account was charged and refunded. */
export const movementsOf = Effect.fn("Books.movementsOf")(function*(account: string) {
  const ledger = yield* Ledger.Ledger
  const transactions = yield* ledger.entries({ account, limit: 1_000 })
  const count = (wanted: "charge" | "refund") => transactions.filter(({ kind }) => kind === wanted).length
  return { charges: count("charge"), refunds: count("refund") }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const turn = Semaphore.makeUnsafe(1)
