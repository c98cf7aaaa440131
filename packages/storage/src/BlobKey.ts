/**
 * Keys of blobs, restricted to an alphabet that every backend accepts unescaped.
 *
 * Keys are lower case, so that two keys never name the same file on a file system that
 * ignores case. No segment begins or ends with a dot, so a key cannot leave the
 * directory of the store.
 */
import { Effect } from "effect"
import { BlobError, InvalidKey } from "./BlobError.ts"

/** Maximum length of a key, in characters. */
export const lengthMax = 128

/**
 * Returns whether `key` is valid: at most 128 characters, in segments separated by `/`,
 * each of `a-z`, `0-9`, `.`, `_` and `-`, beginning and ending with a letter or a digit.
 */
export const isValid = (key: string): boolean => key.length <= lengthMax && pattern.test(key)

/** Fails with `InvalidKey` unless `key` is valid. */
export const check = (key: string): Effect.Effect<void, BlobError> =>
  isValid(key) ? Effect.void : Effect.fail(new BlobError({ reason: new InvalidKey({ key }) }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const segment = "[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?"
const pattern = new RegExp(`^${segment}(?:/${segment})*$`)
