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

/**
 * Those that sign content URLs. Servers that are reached through one address need the
 * same, since a URL that one signs comes back to another, and so do processes that
 * send webhooks: configure them, or share the data directory.
 */
export const urlSigning = ({ dataDirectory, urlSigningKeys }: Pick<Settings, "dataDirectory" | "urlSigningKeys">) =>
  resolve(urlSigningKeys, dataDirectory, "url-signing-key")

/** Those that seal the secrets of webhook endpoints. Every process on a database needs the same. */
export const webhooks = ({ dataDirectory, webhookKeys }: Pick<Settings, "dataDirectory" | "webhookKeys">) =>
  resolve(webhookKeys, dataDirectory, "webhook-key")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Bytes of a key that is made here. */
const keyBytes = 32

/** The configured keys, or the one in this file of the data directory, made when it is missing. */
const resolve = Effect.fnUntraced(function*(
  configured: ReadonlyArray<Redacted.Redacted>,
  dataDirectory: string,
  file: string
): Effect.fn.Return<Keys, never, SecureRandom.SecureRandom> {
  const [first, ...others] = configured
  if (first !== undefined) return [first, ...others]
  const path = join(dataDirectory, file)
  const key = Base64Url.encode(yield* SecureRandom.SecureRandom.use((random) => random.randomBytes(keyBytes)))
  yield* Effect.promise(() => publish(path, `${key}\n`))
  const kept = yield* Effect.promise(() => readFile(path, "utf8"))
  return [Redacted.make(kept.trim())]
})

/** Makes the file, whole, unless there is one: of processes that start together, all take the first one's key. */
const publish = async (path: string, content: string): Promise<void> => {
  const draft = `${path}.${randomUUID()}`
  await writeFile(draft, content, { mode: 0o600 })
  try {
    await link(draft, path)
  } catch (error) {
    if (!isTaken(error)) throw error
  } finally {
    await unlink(draft)
  }
}

const isTaken = (error: unknown) =>
  typeof error === "object" && error !== null && "code" in error && error.code === "EEXIST"
