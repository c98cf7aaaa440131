/** Benchmarks of charging credits. */
import { Ledger } from "@kinora/ledger"
import { DateTime, Effect, Layer, Result } from "effect"
import { attempt, type Benchmark, type Environment, failingWith } from "./Benchmark.ts"
import * as Callers from "./Callers.ts"
import * as Costs from "./Costs.ts"
import * as KinoraServices from "./KinoraServices.ts"
import * as PgLedger from "./PgLedger.ts"

const callers = 64

/** All benchmarks of charges. */
export const benchmarks: ReadonlyArray<Benchmark> = [
  {
    name: "charge",
    title: `Charges of 50 accounts, with Kinora from 3 live lots each, ${callers} callers`,
    compares: "perSecond",
    contestants: ofAccounts(50)
  },
  {
    name: "charge-hot",
    title: `Charges of one account, with Kinora from 3 live lots, ${callers} callers`,
    compares: "perSecond",
    contestants: ofAccounts(1)
  }
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

function ofAccounts(count: number): Benchmark["contestants"] {
  return (environment) => Effect.all([ours(environment, count), pgLedger(environment, count)])
}

const ours = Effect.fnUntraced(function*(environment: Environment, count: number) {
  const { seconds } = environment
  const database = yield* environment.database
  const services = yield* Layer.build(KinoraServices.layer(database)).pipe(failingWith("Kinora does not start"))
  const ledger = yield* Effect.provideContext(Ledger.Ledger, services)
  const accounts = Array.from({ length: count }, (_, n) => `account-${n}`)
  yield* grantLots(ledger, accounts).pipe(failingWith("The lots could not be granted"))
  let charges = 0

  const charge = (n: number) =>
    Effect.flatMap(DateTime.now, (at) =>
      ledger.charge({
        account: accounts[n % count]!,
        reference: `job-${charges++}`,
        amount: { _tag: "Credits", credits: creditsPerCharge },
        at
      })).pipe(
        failingWith("A charge failed")
      )

  return {
    name: "kinora",
    round: Costs.timed({ database }, environment, Callers.ofEffects({ callers, seconds }, charge))
  }
})

const pgLedger = Effect.fnUntraced(function*(environment: Environment, count: number) {
  const { seconds } = environment
  const { charge, database, name } = yield* PgLedger.make(environment, count)
  const charges = attempt(
    "A charge failed",
    () => Callers.ofPromises({ callers, seconds }, (n) => charge(n, creditsPerCharge))
  )
  return { name, round: Costs.timed({ database }, environment, charges) }
})

const creditsPerCharge = 2

/** Large enough that the first of the three lots never runs out. */
const grantLots = Effect.fnUntraced(function*(ledger: Ledger.Ledger["Service"], accounts: ReadonlyArray<string>) {
  const at = yield* DateTime.now
  const granted = yield* ledger.grantAll(accounts.flatMap((account) =>
    [30, 60, 90].map((days) => ({
      account,
      reference: `lot-${days}`,
      kind: "addon" as const,
      credits: 1_000_000_000,
      expiresAt: DateTime.add(at, { days }),
      at
    }))
  ))
  granted.forEach((result) => Result.getOrThrow(result))
})
