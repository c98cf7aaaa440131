/** Why an image was refused. Sides are in pixels. */
import { Schema } from "effect"

/** The media types that are read, told by content. */
export const ImageMime = Schema.Literals(["image/png", "image/jpeg", "image/webp"])
/** See the schema of the same name. */
export type ImageMime = typeof ImageMime.Type

/** By their first bytes, these are neither PNG nor JPEG nor WebP, whatever their name says. */
export class UnsupportedFormat
  extends Schema.TaggedError<UnsupportedFormat>("@kinora/media/UnsupportedFormat")("UnsupportedFormat", {})
{}

/** The content is of another type than was declared (D18). */
export class Mislabelled extends Schema.TaggedError<Mislabelled>("@kinora/media/Mislabelled")("Mislabelled", {
  declared: Schema.String,
  found: ImageMime
}) {}

/** More bytes than may be read. */
export class TooManyBytes extends Schema.TaggedError<TooManyBytes>("@kinora/media/TooManyBytes")("TooManyBytes", {
  bytes: Schema.Int,
  bytesMax: Schema.Int
}) {}

/** More pixels than may be decoded, by the header: nothing was decoded. */
export class TooManyPixels extends Schema.TaggedError<TooManyPixels>("@kinora/media/TooManyPixels")("TooManyPixels", {
  width: Schema.Int,
  height: Schema.Int,
  pixelsMax: Schema.Int
}) {}

/** Truncated, damaged, or a header that no image has. */
export class Corrupt extends Schema.TaggedError<Corrupt>("@kinora/media/Corrupt")("Corrupt", {
  /** What the decoder says, for logs. */
  cause: Schema.Defect()
}) {}

/** Decoding was given up, as it is with files made to take long. */
export class TookTooLong extends Schema.TaggedError<TookTooLong>("@kinora/media/TookTooLong")("TookTooLong", {
  secondsMax: Schema.Int
}) {}

/** Everything that is wrong with an image. `Effect.catchReason` opens it. */
export class MediaError extends Schema.TaggedError<MediaError>("@kinora/media/MediaError")("MediaError", {
  reason: Schema.Union([UnsupportedFormat, Mislabelled, TooManyBytes, TooManyPixels, Corrupt, TookTooLong])
}) {
  override get message(): string {
    return `The image was refused: ${this.reason._tag}`
  }
}
