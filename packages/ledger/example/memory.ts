import { Ledger } from "@kinora/ledger"
import { Console, DateTime, Effect } from "effect"

const program = Effect.gen(function*() {
  const ledger = yield* Ledger.Ledger
  const at = yield* DateTime.now
  const expiresAt = DateTime.add(at, { days: 30 })
  const amount = { _tag: "Credits", credits: 40 } as const

  yield* ledger.grant({ account: "ada", reference: "2026-11", kind: "plan", credits: 1_000, expiresAt, at })
  yield* ledger.charge({ account: "ada", reference: "job-1", amount, at })
  yield* Console.log((yield* ledger.balances("ada", at)).credits) // 960
})

await Effect.runPromise(program.pipe(Effect.provide(Ledger.layerMemory)))
