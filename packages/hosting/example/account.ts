import { Accounts } from "@kinora/accounts"
import { Host, type Settings } from "@kinora/hosting"
import { Ledger } from "@kinora/ledger"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Option } from "effect"

/** Opens an account with credits and a plan for 30 days. The returned key cannot be read again. */
export const openAccount = Effect.fn("openAccount")(function*(email: string, credits: number) {
  const accounts = yield* Accounts.Accounts
  const ledger = yield* Ledger.Ledger
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const at = yield* DateTime.now
  const expiresAt = DateTime.add(at, { days: 30 })
  const plan = Option.some({ tier: "pro", periodEnd: expiresAt, autoRenew: false } as const)

  return yield* atomically(Effect.gen(function*() {
    const { id } = yield* accounts.create({ email })
    yield* accounts.setPlan(id, "studio", plan)
    yield* ledger.grant({ account: id, reference: "welcome", kind: "addon", credits, expiresAt, at })
    const { key } = yield* accounts.createKey(id, "first")
    return { id, key }
  }))
})

/** Opens the account in the database of these settings. A running server must not use an embedded one. */
export const openAccountIn = (settings: Settings.Settings, email: string, credits: number) =>
  openAccount(email, credits).pipe(Effect.provide(Host.layer(settings)))
