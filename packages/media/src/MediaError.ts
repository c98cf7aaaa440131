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

/** More bytes than may be read, once it was written anew: a file can hold in little what another of its format cannot. */
export class GrewTooLong extends Schema.TaggedError<GrewTooLong>("@kinora/media/GrewTooLong")("GrewTooLong", {
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

/** Too long and narrow to be of use as an input: a generator would show a stripe of it. */
export class TooNarrow extends Schema.TaggedError<TooNarrow>("@kinora/media/TooNarrow")("TooNarrow", {
  width: Schema.Int,
  height: Schema.Int,
  /** How many times as long as the short side the long one may be. */
  aspectMax: Schema.Finite
}) {}

/** Several frames, where one picture is asked for. */
export class Animated extends Schema.TaggedError<Animated>("@kinora/media/Animated")("Animated", {
  frames: Schema.Int
}) {}

/** What is wrong with an image. */
export const Reason = Schema.Union([
  UnsupportedFormat,
  Mislabelled,
  TooManyBytes,
  GrewTooLong,
  TooManyPixels,
  TooNarrow,
  Animated,
  Corrupt,
  TookTooLong
])
/** See the schema of the same name. */
export type Reason = typeof Reason.Type

/** An image was refused. `Effect.catchReason` opens it; the message says what to do, to whoever sent the image. */
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

/** Longest part of what a client declared that is repeated to it. */
const shownMax = 100

const messageOf = (reason: Reason): string => {
  switch (reason._tag) {
    case "UnsupportedFormat":
      return "The file is neither PNG nor JPEG nor WebP, going by its content. Convert it to one of them."
    case "Mislabelled":
      return `The image is ${reason.found}, but was declared as ${
        JSON.stringify(reason.declared.slice(0, shownMax))
      }.` +
        " Declare what it is, or leave the type out."
    case "TooManyBytes":
      return `The image has ${reason.bytes} bytes; at most ${reason.bytesMax} are taken. Make it smaller or compress it more.`
    case "GrewTooLong":
      return `The image has ${reason.bytes} bytes once it is written anew; at most ${reason.bytesMax} are kept.` +
        " Scale it down or send it as JPEG."
    case "TooManyPixels":
      return `The image has ${reason.width} x ${reason.height} pixels; at most ${reason.pixelsMax} in all are taken.` +
        " Scale it down."
    case "TooNarrow":
      return `The image has ${reason.width} x ${reason.height} pixels; its long side may be at most ${reason.aspectMax}` +
        " times its short side. Crop it."
    case "Animated":
      return `The image is an animation of ${reason.frames} frames. Send one of them as a still image.`
    case "Corrupt":
      return "The image is truncated or damaged. Send the whole file again, or save it anew."
    case "TookTooLong":
      return `The image could not be read within ${reason.secondsMax} seconds. Scale it down or save it anew.`
  }
}
