import { PgClient } from "@effect/sql-pg"
import { Ledger } from "@kinora/ledger"
import { Config, Console, DateTime, Effect, Layer } from "effect"

const database = PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })

// Creates or updates the tables, and books expired lots in the background.
const ledgerLayer = Ledger.layerSweep().pipe(
  Layer.provideMerge(Ledger.layerPostgres()),
  Layer.provide(database)
)

const program = Effect.gen(function*() {
  const ledger = yield* Ledger.Ledger
  const at = yield* DateTime.now
  const expiresAt = DateTime.add(at, { days: 30 })
  const amount = { _tag: "Credits", credits: 40 } as const

  yield* ledger.grant({ account: "ada", reference: "2026-11", kind: "plan", credits: 1_000, expiresAt, at })
  yield* ledger.charge({ account: "ada", reference: "job-1", amount, at }).pipe(
    // A repeated charge is refused, so a retried job is paid for once.
    Effect.catchReason("LedgerError", "AlreadyCharged", () => Effect.void)
  )
  yield* Console.log((yield* ledger.balances("ada", at)).credits) // 960
  yield* ledger.refund({ account: "ada", reference: "job-1", at })
  yield* Console.log((yield* ledger.balances("ada", at)).credits) // 1000
})

await Effect.runPromise(program.pipe(Effect.provide(ledgerLayer)))
