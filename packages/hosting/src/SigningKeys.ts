/** The secrets that sign content URLs: configured, or one that this data directory keeps. */
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"

/** At least one: the first signs, all verify. */
export type Keys = readonly [Redacted.Redacted, ...ReadonlyArray<Redacted.Redacted>]

/** Bytes of a key that is made here. */
const keyBytes = 32

/**
 * The configured keys, or the one in the data directory, made when it is missing.
 * Servers that share a database and are reached through one address need the same
 * configured keys: a URL that one signs comes back to another.
 */
export const resolve = Effect.fn("SigningKeys.resolve")(function*(
  configured: ReadonlyArray<Redacted.Redacted>,
  dataDirectory: string
): Effect.fn.Return<Keys, never, SecureRandom.SecureRandom> {
  const [first, ...others] = configured
  if (first !== undefined) return [first, ...others]
  const path = join(dataDirectory, "url-signing-key")
  const kept = yield* Effect.option(Effect.tryPromise(() => readFile(path, "utf8")))
  if (kept._tag === "Some" && kept.value.trim() !== "") return [Redacted.make(kept.value.trim())]
  const key = Base64Url.encode(yield* SecureRandom.SecureRandom.use((random) => random.randomBytes(keyBytes)))
  yield* Effect.promise(() => writeFile(path, `${key}\n`, { mode: 0o600 }))
  return [Redacted.make(key)]
})
