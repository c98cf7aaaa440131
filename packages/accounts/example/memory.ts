import { Accounts, PlanTable } from "@kinora/accounts"
import { Console, DateTime, Effect, Option } from "effect"

const program = Effect.gen(function*() {
  const accounts = yield* Accounts.Accounts
  const now = yield* DateTime.now
  const { id } = yield* accounts.create({ email: "ada@example.com" })
  const periodEnd = DateTime.add(now, { days: 30 })
  yield* accounts.setPlan(id, "studio", Option.some({ tier: "pro", periodEnd, autoRenew: true }))

  // `key` is redacted. Show it to its owner now, since it cannot be read again.
  const { key, record } = yield* accounts.createKey(id, "laptop")

  // Authenticate every request: mostly from the cache.
  const { account } = Option.getOrThrow(yield* accounts.authenticate(key))
  const limits = PlanTable.limits(PlanTable.defaults, "studio", account.plans.studio, now)

  yield* accounts.revokeKey(id, record.id)
  const revoked = yield* accounts.authenticate(key)
  yield* Console.log(account.email, limits.createRpm, Option.isNone(revoked))
})

await Effect.runPromise(Effect.provide(program, Accounts.layerMemory))
// ada@example.com 40 true
