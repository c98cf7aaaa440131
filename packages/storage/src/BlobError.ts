/** Errors of blob stores. */
import { Schema } from "effect"

/** No blob has this key: it was never put, or it was deleted. */
export class NotFound extends Schema.TaggedError<NotFound>("@kinora/storage/NotFound")("NotFound", {
  key: Schema.String
}) {}

/** The stream is longer than `bytesMax`. Nothing was published. */
export class TooLarge extends Schema.TaggedError<TooLarge>("@kinora/storage/TooLarge")("TooLarge", {
  key: Schema.String,
  bytesMax: Schema.Int
}) {}

/** The key is not valid. See `BlobKey`. */
export class InvalidKey extends Schema.TaggedError<InvalidKey>("@kinora/storage/InvalidKey")("InvalidKey", {
  key: Schema.String
}) {}

/** The blob has only `bytes` bytes, so the requested range exceeds it. */
export class OutOfRange extends Schema.TaggedError<OutOfRange>("@kinora/storage/OutOfRange")("OutOfRange", {
  key: Schema.String,
  bytes: Schema.Int
}) {}

/**
 * The backend failed during `operation` (`Module.method`), for instance because it is
 * full, unreachable, or denies access. A put that fails with it may have replaced the
 * blob, and can be repeated.
 */
export class Unavailable extends Schema.TaggedError<Unavailable>("@kinora/storage/Unavailable")("Unavailable", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {}

/** The error of every blob store operation. Match its reason with `Effect.catchReason`. */
export class BlobError extends Schema.TaggedError<BlobError>("@kinora/storage/BlobError")("BlobError", {
  reason: Schema.Union([NotFound, TooLarge, InvalidKey, OutOfRange, Unavailable])
}) {
  override get message(): string {
    return this.reason._tag === "Unavailable"
      ? `Blob storage is unavailable during ${this.reason.operation}`
      : `${this.reason._tag} (${this.reason.key})`
  }
}
