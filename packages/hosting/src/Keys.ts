/** The keys of a host: configured, or ones that its data directory keeps, a file for each purpose. */
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { randomUUID } from "node:crypto"
import { link, readFile, unlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Settings } from "./Settings.ts"

/** At least one: the first makes, all are accepted. */
export type Keys = readonly [Redacted.Redacted, ...ReadonlyArray<Redacted.Redacted>]

/** What the settings say of keys. */
export type KeySettings = Pick<Settings, "databaseUrl" | "dataDirectory" | "urlSigningKeys" | "webhookKeys">

/**
 * Those that sign content URLs. Servers that are reached through one address need the
 * same, since a URL that one signs comes back to another, and so do processes that
 * send webhooks: configure them, or share the data directory.
 */
export const urlSigning = (settings: KeySettings) =>
  resolve(settings.urlSigningKeys, settings, { file: "url-signing-key", variable: "KINORA_URL_SIGNING_KEYS" })

/** Those that seal the secrets of webhook endpoints. Every process on a database needs the same. */
export const webhooks = (settings: KeySettings) =>
  resolve(settings.webhookKeys, settings, { file: "webhook-key", variable: "KINORA_WEBHOOK_KEYS" })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Bytes of a key that is made here. */
const keyBytes = 32

/** What keys are for. */
interface Purpose {
  /** In the data directory. */
  readonly file: string
  readonly variable: string
}

/** The configured keys, or the one in the data directory, made when it is missing. */
const resolve = Effect.fnUntraced(function*(
  configured: ReadonlyArray<Redacted.Redacted>,
  { databaseUrl, dataDirectory }: KeySettings,
  { file, variable }: Purpose
): Effect.fn.Return<Keys, never, SecureRandom.SecureRandom> {
  const [first, ...others] = configured
  if (first !== undefined) return [first, ...others]
  const path = join(dataDirectory, file)
  const key = Base64Url.encode(yield* SecureRandom.SecureRandom.use((random) => random.randomBytes(keyBytes)))
  const isMade = yield* Effect.promise(() => publish(path, `${key}\n`))
  // An embedded database is one process's, and so is its directory.
  if (isMade && databaseUrl !== undefined) {
    yield* Effect.logInfo(`Made ${file}: processes with another data directory need ${variable}, the same on each`)
  }
  const kept = yield* Effect.promise(() => readFile(path, "utf8"))
  return [Redacted.make(kept.trim())]
})

/**
 * Makes the file, whole, unless there is one: of processes that start together, all
 * take the first one's key. Answers whether it made it.
 */
const publish = async (path: string, content: string): Promise<boolean> => {
  const draft = `${path}.${randomUUID()}`
  await writeFile(draft, content, { mode: 0o600 })
  try {
    await link(draft, path)
    return true
  } catch (error) {
    if (isTaken(error)) return false
    throw error
  } finally {
    await unlink(draft)
  }
}

const isTaken = (error: unknown) =>
  typeof error === "object" && error !== null && "code" in error && error.code === "EEXIST"
