/** The secrets that sign content URLs: configured, or one that this data directory keeps. */
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { randomUUID } from "node:crypto"
import { link, readFile, unlink, writeFile } from "node:fs/promises"
import { join } from "node:path"

/** At least one: the first signs, all verify. */
export type Keys = readonly [Redacted.Redacted, ...ReadonlyArray<Redacted.Redacted>]

/** Bytes of a key that is made here. */
const keyBytes = 32

/**
 * The configured keys, or the one in the data directory, made when it is missing.
 * Servers that are reached through one address need the same keys, since a URL that
 * one signs comes back to another: configure them, or share the data directory.
 */
export const resolve = Effect.fn("SigningKeys.resolve")(function*(
  configured: ReadonlyArray<Redacted.Redacted>,
  dataDirectory: string
): Effect.fn.Return<Keys, never, SecureRandom.SecureRandom> {
  const [first, ...others] = configured
  if (first !== undefined) return [first, ...others]
  const path = join(dataDirectory, "url-signing-key")
  const key = Base64Url.encode(yield* SecureRandom.SecureRandom.use((random) => random.randomBytes(keyBytes)))
  yield* Effect.promise(() => publish(path, `${key}\n`))
  const kept = yield* Effect.promise(() => readFile(path, "utf8"))
  return [Redacted.make(kept.trim())]
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Makes the file, whole, unless there is one: of servers that start together, all take the first one's key. */
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
