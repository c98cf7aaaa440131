/** Errors of files that were probed. The messages are for logs of the operator. */
import { Schema } from "effect"

/** Media type of a file, detected by content. */
export const MediaMime = Schema.Literals(["image/png", "image/jpeg", "image/webp", "video/mp4", "video/webm"])
/** Type of `MediaMime`. */
export type MediaMime = typeof MediaMime.Type

/** The content is not PNG, JPEG, WebP, MP4 or WebM. */
export class UnknownFormat extends Schema.TaggedError<UnknownFormat>("@kinora/media/UnknownFormat")(
  "UnknownFormat",
  {}
) {}

/** The content has another type than declared. */
export class ContentMismatch extends Schema.TaggedError<ContentMismatch>("@kinora/media/ContentMismatch")(
  "ContentMismatch",
  { declared: Schema.String, found: MediaMime }
) {}

/** The file is truncated, or its structure is invalid. */
export class Malformed extends Schema.TaggedError<Malformed>("@kinora/media/Malformed")("Malformed", {
  /** The violated rule of the format. */
  detail: Schema.String
}) {}

/** The codec of the video is not H.264, HEVC, VP8, VP9 or AV1. */
export class UnsupportedCodec extends Schema.TaggedError<UnsupportedCodec>("@kinora/media/UnsupportedCodec")(
  "UnsupportedCodec",
  { codec: Schema.String }
) {}

/** The file exceeds a limit of `ProbeLimits`. */
export class LimitExceeded extends Schema.TaggedError<LimitExceeded>("@kinora/media/LimitExceeded")("LimitExceeded", {
  /** Name of the limit. */
  limit: Schema.Literals(["bytesMax", "sideMax", "pixelsMax", "durationMax", "tracksMax", "readsMax"]),
  /** Value of the file. Seconds for a duration. */
  value: Schema.Finite,
  max: Schema.Finite
}) {}

/** The error of a file that is not a complete image or video within the limits. */
export class ProbeError extends Schema.TaggedError<ProbeError>("@kinora/media/ProbeError")("ProbeError", {
  reason: Schema.Union([UnknownFormat, ContentMismatch, Malformed, UnsupportedCodec, LimitExceeded])
}) {
  override get message(): string {
    return messageOf(this.reason)
  }
}

/** Creates a `ProbeError` for a violated rule of a format. */
export const malformed = (detail: string): ProbeError => new ProbeError({ reason: new Malformed({ detail }) })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum length of text of the file or of its sender that is repeated in a message. */
const shownMax = 100

const shown = (text: string): string => JSON.stringify(text.slice(0, shownMax))

const messageOf = (reason: ProbeError["reason"]): string => {
  switch (reason._tag) {
    case "UnknownFormat":
      return "The file is not PNG, JPEG, WebP, MP4 or WebM."
    case "ContentMismatch":
      return `The file is ${reason.found}, but was declared as ${shown(reason.declared)}.`
    case "Malformed":
      return `The file is truncated or damaged: ${reason.detail}.`
    case "UnsupportedCodec":
      return `The codec of the video is ${shown(reason.codec)}; H.264, HEVC, VP8, VP9 and AV1 are supported.`
    case "LimitExceeded":
      return `The file exceeds ${reason.limit}: ${reason.value}; the maximum is ${reason.max}.`
  }
}
