/** Why a blob store did not do what it was asked. */
import { Schema } from "effect"

/** There is no blob under the key: never put, or deleted. */
export class NotFound extends Schema.TaggedError<NotFound>("@kinora/storage/NotFound")("NotFound", {
  key: Schema.String
}) {}

/** The stream has more bytes than the put allows. Nothing was published. */
export class TooLarge extends Schema.TaggedError<TooLarge>("@kinora/storage/TooLarge")("TooLarge", {
  key: Schema.String,
  bytesMax: Schema.Int
}) {}

/** The text is not a key: see `BlobKey`. */
export class InvalidKey extends Schema.TaggedError<InvalidKey>("@kinora/storage/InvalidKey")("InvalidKey", {
  key: Schema.String
}) {}

/** The blob ends at `bytes`, before the range that was asked for does. */
export class OutOfRange extends Schema.TaggedError<OutOfRange>("@kinora/storage/OutOfRange")("OutOfRange", {
  key: Schema.String,
  bytes: Schema.Int
}) {}

/**
 * The backend failed during `operation` (`Module.method`): it is full, gone, or
 * denies access. A put that ends so may have replaced the blob, or not; it may be
 * repeated.
 */
export class Unavailable extends Schema.TaggedError<Unavailable>("@kinora/storage/Unavailable")("Unavailable", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {}

/** Everything that a blob store refuses or fails to do. `Effect.catchReason` opens it. */
export class BlobError extends Schema.TaggedError<BlobError>("@kinora/storage/BlobError")("BlobError", {
  reason: Schema.Union([NotFound, TooLarge, InvalidKey, OutOfRange, Unavailable])
}) {
  override get message(): string {
    return this.reason._tag === "Unavailable"
      ? `Blob storage is unavailable during ${this.reason.operation}`
      : `${this.reason._tag} (${this.reason.key})`
  }
}
