import { Ledger, MemoryLedgerStore } from "@kinora/ledger"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Layer, Result } from "effect"
import { SecureRandom } from "effect/crypto"

export const example = Effect.gen(function*() {
  const ledger = yield* Ledger.Ledger
  const at = yield* DateTime.now
  const account = "ada"

  // A month of credits. Asked twice for the same period, it is granted once.
  const expiresAt = DateTime.add(at, { days: 30 })
  yield* ledger.grant({ account, reference: "2026-11", kind: "plan", credits: 1_000, expiresAt, at })

  // A job is charged once, whoever asks again.
  const job = { account, reference: "job-1", at }
  const price = { _tag: "Credits", credits: 40, imagesOnlyAllowed: true } as const
  yield* ledger.charge({ ...job, amount: price })
  const again = yield* ledger.charge({ ...job, amount: price })

  // It failed: what it paid goes back to where it came from, once.
  yield* ledger.refund(job)
  const { credits } = yield* ledger.balances(account, at)

  const { discrepancies } = yield* ledger.verify()
  return { again: Result.isFailure(again) && again.failure._tag, credits, discrepancies }
}).pipe(Effect.provide(
  Ledger.layer.pipe(
    // With a database: SqlLedgerStore.layer and UnitOfWork.layerSql.
    Layer.provide(MemoryLedgerStore.layer),
    Layer.provide(UnitOfWork.layerMemory),
    Layer.provide(SecureRandom.layerWebCrypto)
  )
))
