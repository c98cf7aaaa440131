/**
 * Names of blobs: opaque text of an alphabet that every backend can take as it is.
 *
 * Lower case only, so that no two keys are one file on a file system that ignores
 * case; and no segment begins or ends with a dot, so that no key leaves its place.
 */
import { Effect } from "effect"
import { BlobError, InvalidKey } from "./BlobError.ts"

/** The longest key, in characters. */
export const lengthMax = 128

/**
 * Whether `key` may name a blob: at most 128 characters, segments separated by
 * `/`, each made of `a-z`, `0-9`, `.`, `_` and `-` and with a letter or a digit
 * at both ends.
 */
export const isValid = (key: string): boolean => key.length <= lengthMax && pattern.test(key)

/** Fails with `InvalidKey` unless `isValid`. */
export const check = (key: string): Effect.Effect<void, BlobError> =>
  isValid(key) ? Effect.void : Effect.fail(new BlobError({ reason: new InvalidKey({ key }) }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const segment = "[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?"
const pattern = new RegExp(`^${segment}(?:/${segment})*$`)
