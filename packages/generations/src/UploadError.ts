/** Refusals of `Uploads`. */
import { Schema } from "effect"
import { ImageTimedOut, InputPixelsExceeded } from "./GenerationError.ts"

const id = <const Name extends string>(name: Name) => `@kinora/generations/UploadError/${name}` as const

/** The bytes are not a supported image. */
export class InvalidImage extends Schema.TaggedError<InvalidImage>(id("InvalidImage"))("InvalidImage", {
  /** Description of the problem, shown to the client. */
  message: Schema.String
}) {}

/** The account has no usable upload with this id. */
export class UploadNotFound extends Schema.TaggedError<UploadNotFound>(id("UploadNotFound"))("UploadNotFound", {}) {}

/** The account already has the maximum number of usable uploads. */
export class TooManyUploads extends Schema.TaggedError<TooManyUploads>(id("TooManyUploads"))("TooManyUploads", {
  max: Schema.Int
}) {}

/** The usable uploads of the account would have too many bytes together. */
export class TooManyUploadBytes
  extends Schema.TaggedError<TooManyUploadBytes>(id("TooManyUploadBytes"))("TooManyUploadBytes", {
    bytesMax: Schema.Finite
  })
{}

/** Error of `Uploads`. The reason states which rule refused the call. */
export class UploadError extends Schema.TaggedError<UploadError>(id("UploadError"))("UploadError", {
  reason: Schema.Union([
    InvalidImage,
    ImageTimedOut,
    InputPixelsExceeded,
    UploadNotFound,
    TooManyUploads,
    TooManyUploadBytes
  ])
}) {
  override get message(): string {
    return this.reason._tag
  }
}
