/** The demo account, which a first start creates for the printed `curl` command. */
import { Accounts } from "@kinora/accounts"
import { Ledger } from "@kinora/ledger"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Option, Redacted, Schema } from "effect"
import { chmodSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import * as DataDirectory from "./DataDirectory.ts"

/** Initial credits. */
const credits = 1_000
/** Lifetime of the plan and the credits. */
const lifetime = { days: 365 } as const
const email = "demo@example.com"

/**
 * Returns the key of the demo account. Creates the account (Studio pro, 1,000 credits)
 * if the database has none, and otherwise reads the key from the data directory.
 * Returns `None` if the account exists and its key is in another data directory.
 */
export const ensure = Effect.fn("DemoAccount.ensure")(function*(dataDirectory: string) {
  const accounts = yield* Accounts.Accounts
  const path = join(dataDirectory, DataDirectory.entries.demoAccount)
  const kept = yield* readKey(path)
  if (Option.isSome(kept) && Option.isSome(yield* accounts.authenticate(kept.value))) return kept
  if (Option.isSome(yield* accounts.findByEmail(email))) return Option.none()
  return yield* create(path).pipe(
    Effect.map(Option.some),
    // Another host created the account at the same time.
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
    // Written before the commit: the next start replaces a key without an account, but an account without its key
    // could never be used.
    yield* Effect.sync(() => writeKey(path, key))
    return key
  }))
})

const writeKey = (path: string, key: Redacted.Redacted) => {
  writeFileSync(path, `${JSON.stringify({ api_key: Redacted.value(key) }, null, 2)}\n`, { mode: 0o600 })
  // `mode` applies to new files only.
  chmodSync(path, 0o600)
}
