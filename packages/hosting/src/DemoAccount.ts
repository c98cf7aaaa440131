/** The account that a first start makes, so that the printed `curl` works. */
import { Accounts } from "@kinora/accounts"
import { Ledger } from "@kinora/ledger"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Option, Redacted, Schema } from "effect"
import { chmodSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"

/** Credits that the demo account starts with. */
const credits = 1_000
/** How long its plan and its credits last. */
const lifetime = { days: 365 } as const
const email = "demo@example.com"

/**
 * The demo account's key: made with the account (Studio pro, 1,000 credits) when
 * the database has none yet, read from the data directory after that. `None` when
 * the account exists and its key was shown to somebody else.
 */
export const ensure = Effect.fn("DemoAccount.ensure")(function*(dataDirectory: string) {
  const accounts = yield* Accounts.Accounts
  const path = join(dataDirectory, "demo-account.json")
  const kept = yield* readKey(path)
  if (Option.isSome(kept) && Option.isSome(yield* accounts.authenticate(kept.value))) return kept
  if (Option.isSome(yield* accounts.findByEmail(email))) return Option.none()
  return yield* create(path).pipe(
    Effect.map(Option.some),
    // Another host was faster.
    Effect.catchReason("AccountsError", "EmailTaken", () => Effect.succeedNone)
  )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const KeyFile = Schema.fromJsonString(Schema.Struct({ api_key: Schema.RedactedFromValue(Schema.String) }))

const readKey = (path: string) =>
  Effect.tryPromise(() => readFile(path, "utf8")).pipe(
    Effect.flatMap(Schema.decodeEffect(KeyFile)),
    Effect.map(({ api_key }) => api_key),
    Effect.option
  )

const create = Effect.fnUntraced(function*(path: string) {
  const accounts = yield* Accounts.Accounts
  const ledger = yield* Ledger.Ledger
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const now = yield* DateTime.now
  const expiresAt = DateTime.add(now, lifetime)
  return yield* atomically(Effect.gen(function*() {
    const { id } = yield* accounts.create({ email })
    yield* accounts.setPlan(id, "studio", Option.some({ tier: "pro", periodEnd: expiresAt, autoRenew: false }))
    yield* ledger.grant({ account: id, reference: "demo", kind: "addon", credits, expiresAt, at: now })
    const { key } = yield* accounts.createKey(id, "demo")
    // Written before the commit: a key in the file without an account is replaced at the
    // next start, an account without a key in the file could never be used.
    yield* Effect.sync(() => writeKey(path, key))
    return key
  }))
})

const writeKey = (path: string, key: Redacted.Redacted) => {
  writeFileSync(path, `${JSON.stringify({ api_key: Redacted.value(key) }, null, 2)}\n`, { mode: 0o600 })
  // The mode above is for a new file only.
  chmodSync(path, 0o600)
}
