/** Everything that `Uploads` refuses to do. HTTP meaning is given at the edge (D40). */
import { Schema } from "effect"

const id = <const Name extends string>(name: Name) => `@kinora/generations/UploadError/${name}` as const

/** The bytes are no image that the service reads (D18). */
export class InvalidImage extends Schema.TaggedError<InvalidImage>(id("InvalidImage"))("InvalidImage", {
  /** What is wrong with it, for people. */
  message: Schema.String
}) {}

/** The account has no upload of this id, or has no longer. */
export class UploadNotFound extends Schema.TaggedError<UploadNotFound>(id("UploadNotFound"))("UploadNotFound", {}) {}

/** The account has as many uploads as it may. They end by themselves, or when they are removed. */
export class TooManyUploads extends Schema.TaggedError<TooManyUploads>(id("TooManyUploads"))("TooManyUploads", {
  max: Schema.Int
}) {}

/** A refusal on its way out of `Uploads`. */
export class UploadError extends Schema.TaggedError<UploadError>(id("UploadError"))("UploadError", {
  reason: Schema.Union([InvalidImage, UploadNotFound, TooManyUploads])
}) {
  override get message(): string {
    return this.reason._tag
  }
}
