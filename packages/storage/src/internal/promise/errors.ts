/** The errors of blob stores as errors of JavaScript. */
import { errorsByTag, errorsOf } from "@kinora/persistence/PromiseApi"
import type * as Reason from "../../BlobError.ts"

/** A call of a blob store failed. */
export abstract class BlobError extends Error {
  /** Names the reason, for programs. */
  abstract readonly code: string
}

const define = errorsOf(BlobError)

/** No blob has this key: it was never put, or it was deleted. Field: `key`. */
export class BlobNotFoundError extends define("blob_not_found", ({ key }: Reason.NotFound) => `No blob ${key}`) {}

/** The source is longer than `bytesMax`. Nothing was published. Fields: `key`, `bytesMax`. */
export class TooLargeError
  extends define("too_large", ({ bytesMax, key }: Reason.TooLarge) => `The blob ${key} has more than ${bytesMax} bytes`)
{}

/** The key is not 1 to 128 characters in segments of `a-z`, `0-9`, `.`, `_` and `-`, separated by `/`. Field: `key`. */
export class InvalidKeyError extends define(
  "invalid_key",
  ({ key }: Reason.InvalidKey) => `The key of a blob is not valid: ${JSON.stringify(key)}`
) {}

/** The blob has only `bytes` bytes, so the range exceeds it. Fields: `key`, `bytes`. */
export class OutOfRangeError
  extends define("out_of_range", ({ bytes, key }: Reason.OutOfRange) => `The blob ${key} has only ${bytes} bytes`)
{}

/** The backend failed, for instance because it is full or does not respond. Fields: `operation`, `cause`. */
export class UnavailableError extends define(
  "unavailable",
  ({ operation }: Reason.Unavailable) => `Blob storage is unavailable during ${operation}`
) {}

/** Returns the error that a call throws for a failure. */
export const errorOf = errorsByTag<Reason.BlobError["reason"], BlobError>({
  NotFound: BlobNotFoundError,
  TooLarge: TooLargeError,
  InvalidKey: InvalidKeyError,
  OutOfRange: OutOfRangeError,
  Unavailable: UnavailableError
})
