/** Errors of images. Widths and heights are in pixels. */
import { Schema } from "effect"

/** Media type of an image, detected by content. */
export const ImageMime = Schema.Literals(["image/png", "image/jpeg", "image/webp"])
/** Type of `ImageMime`. */
export type ImageMime = typeof ImageMime.Type

/** The content is not PNG, JPEG or WebP. */
export class UnsupportedFormat
  extends Schema.TaggedError<UnsupportedFormat>("@kinora/media/UnsupportedFormat")("UnsupportedFormat", {})
{}

/** The content has another type than declared. */
export class Mislabelled extends Schema.TaggedError<Mislabelled>("@kinora/media/Mislabelled")("Mislabelled", {
  declared: Schema.String,
  found: ImageMime
}) {}

/** The file has more than `bytesMax` bytes. */
export class TooManyBytes extends Schema.TaggedError<TooManyBytes>("@kinora/media/TooManyBytes")("TooManyBytes", {
  bytes: Schema.Int,
  bytesMax: Schema.Int
}) {}

/** The re-encoded image has more than `bytesMax` bytes. */
export class GrewTooLong extends Schema.TaggedError<GrewTooLong>("@kinora/media/GrewTooLong")("GrewTooLong", {
  bytes: Schema.Int,
  bytesMax: Schema.Int
}) {}

/** The header declares more than `pixelsMax` pixels. Nothing was decoded. */
export class TooManyPixels extends Schema.TaggedError<TooManyPixels>("@kinora/media/TooManyPixels")("TooManyPixels", {
  width: Schema.Int,
  height: Schema.Int,
  pixelsMax: Schema.Int
}) {}

/** The file is truncated or damaged, or has an invalid header. */
export class Corrupt extends Schema.TaggedError<Corrupt>("@kinora/media/Corrupt")("Corrupt", {
  /** The error of the decoder, for logs. */
  cause: Schema.Defect()
}) {}

/** Decoding took longer than `secondsMax` seconds. */
export class TookTooLong extends Schema.TaggedError<TookTooLong>("@kinora/media/TookTooLong")("TookTooLong", {
  secondsMax: Schema.Int
}) {}

/** The process that decodes a large input could not be started, or was killed. The image may be fine. */
export class DecoderFailed extends Schema.TaggedError<DecoderFailed>("@kinora/media/DecoderFailed")("DecoderFailed", {
  /** How the process ended, for logs. */
  cause: Schema.Defect()
}) {}

/** The ratio of the sides exceeds `aspectMax`. A generator could use only a stripe of the image. */
export class TooNarrow extends Schema.TaggedError<TooNarrow>("@kinora/media/TooNarrow")("TooNarrow", {
  width: Schema.Int,
  height: Schema.Int,
  /** Maximum ratio of the long to the short side. */
  aspectMax: Schema.Finite
}) {}

/** The image is an animation. */
export class Animated extends Schema.TaggedError<Animated>("@kinora/media/Animated")("Animated", {
  frames: Schema.Int
}) {}

/** Reason of a `MediaError`. */
export const Reason = Schema.Union([
  UnsupportedFormat,
  Mislabelled,
  TooManyBytes,
  GrewTooLong,
  TooManyPixels,
  TooNarrow,
  Animated,
  Corrupt,
  TookTooLong,
  DecoderFailed
])
/** Type of `Reason`. */
export type Reason = typeof Reason.Type

/** The error of a rejected image. The message describes what the sender can do. Match the reason with `Effect.catchReason`. */
export class MediaError extends Schema.TaggedError<MediaError>("@kinora/media/MediaError")("MediaError", {
  reason: Reason
}) {
  override get message(): string {
    return messageOf(this.reason)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum length of a declared type that is repeated in a message. */
const shownMax = 100

const messageOf = (reason: Reason): string => {
  switch (reason._tag) {
    case "UnsupportedFormat":
      return "The content of the file is not PNG, JPEG or WebP. Convert the image to one of these formats."
    case "Mislabelled":
      return `The image is ${reason.found}, but was declared as ${
        JSON.stringify(reason.declared.slice(0, shownMax))
      }.` +
        " Declare the type of the content, or omit the type."
    case "TooManyBytes":
      return `The image has ${reason.bytes} bytes; the maximum is ${reason.bytesMax}. Scale it down or compress it more.`
    case "GrewTooLong":
      return `The image has ${reason.bytes} bytes after re-encoding; the maximum is ${reason.bytesMax}.` +
        " Scale it down or send it as JPEG."
    case "TooManyPixels":
      return `The image has ${reason.width} x ${reason.height} pixels; the maximum is ${reason.pixelsMax} in total.` +
        " Scale it down."
    case "TooNarrow":
      return `The image has ${reason.width} x ${reason.height} pixels; its long side may be at most ${reason.aspectMax}` +
        " times its short side. Crop it."
    case "Animated":
      return `The image is an animation of ${reason.frames} frames. Send a still image.`
    case "Corrupt":
      return "The image is truncated or damaged. Send the complete file, or save the image again."
    case "TookTooLong":
      return `Decoding the image took more than ${reason.secondsMax} seconds. Scale it down, or save it again.`
    case "DecoderFailed":
      return "The image could not be decoded because of an error of the service. Send it again."
  }
}
