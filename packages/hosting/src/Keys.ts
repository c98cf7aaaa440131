/** The keys of a host: configured, or generated once and kept in the data directory, one file per purpose. */
import { Effect, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { randomUUID } from "node:crypto"
import { link, readFile, unlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as DataDirectory from "./DataDirectory.ts"
import type { Settings } from "./Settings.ts"

/** At least one key. The first signs or encrypts, all verify or decrypt. */
export type Keys = readonly [Redacted.Redacted, ...ReadonlyArray<Redacted.Redacted>]

/** The settings that keys depend on. */
export type KeySettings = Pick<Settings, "databaseUrl" | "dataDirectory" | "urlSigningKeys" | "webhookKeys">

/**
 * Returns the keys that sign content URLs. Servers behind one address and processes that
 * send webhooks need the same keys: configure them, or share the data directory.
 */
export const urlSigning = (settings: KeySettings) =>
  resolve(settings.urlSigningKeys, settings, {
    file: DataDirectory.entries.urlSigningKey,
    variable: "KINORA_URL_SIGNING_KEYS"
  })

/** Returns the keys that sign content URLs, unless a start would generate one. */
export const findUrlSigning = ({ dataDirectory, urlSigningKeys: [first, ...others] }: KeySettings) =>
  first === undefined
    ? Effect.map(
      Effect.option(Effect.tryPromise(() => read(dataDirectory, DataDirectory.entries.urlSigningKey))),
      Option.map(keysOf)
    )
    : Effect.succeedSome<Keys>([first, ...others])

/** Returns the keys that encrypt the secrets of webhook endpoints. All processes on a database need the same keys. */
export const webhooks = (settings: KeySettings) =>
  resolve(settings.webhookKeys, settings, { file: DataDirectory.entries.webhookKey, variable: "KINORA_WEBHOOK_KEYS" })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Length of a generated key, in bytes. */
const keyBytes = 32

/** Purpose of keys. */
interface Purpose {
  /** Name of the file in the data directory. */
  readonly file: string
  readonly variable: string
}

/** Returns the configured keys, or the key in the data directory, which is generated if it is missing. */
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
  // The directory of an embedded database belongs to one process.
  if (isMade && databaseUrl !== undefined) {
    yield* Effect.logInfo(
      `Generated ${file}. Processes with another data directory need the same keys: set ${variable} on all of them`
    )
  }
  return keysOf(yield* Effect.promise(() => read(dataDirectory, file)))
})

const read = (directory: string, file: string) => readFile(join(directory, file), "utf8")

const keysOf = (content: string): Keys => [Redacted.make(content.trim())]

/**
 * Creates the file atomically unless it exists, so that processes that start together
 * use the same key. Returns `true` if it created the file.
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
