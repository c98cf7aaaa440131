import { Accounts, MemoryAccountStore, PlanTable } from "@kinora/accounts"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"

export const example = Effect.gen(function*() {
  const accounts = yield* Accounts.Accounts
  const now = yield* DateTime.now

  const { id } = yield* accounts.create({ email: "ada@example.com" })
  const inThirtyDays = DateTime.add(now, { days: 30 })
  yield* accounts.setPlan(id, "studio", Option.some({ tier: "pro", periodEnd: inThirtyDays, autoRenew: true }))

  // `key` is a Redacted: show it to its owner now, it cannot be had again.
  const { key, record } = yield* accounts.createKey(id, "laptop")

  // For every request. A key is looked up once in five seconds; the rest is answered from memory.
  const identity = Option.getOrThrow(yield* accounts.authenticate(key))
  const { studio } = identity.account.plans
  const { createRpm } = PlanTable.limits(PlanTable.defaults, "studio", studio, now)

  yield* accounts.revokeKey(id, record.id)
  const revoked = yield* accounts.authenticate(key)
  return { createRpm, isRevoked: Option.isNone(revoked) }
}).pipe(Effect.provide(
  Accounts.layer.pipe(
    // With a database: SqlAccountStore.layer and UnitOfWork.layerSql.
    Layer.provide(MemoryAccountStore.layer),
    Layer.provide(UnitOfWork.layerMemory),
    Layer.provide(SecureRandom.layerWebCrypto)
  )
))
