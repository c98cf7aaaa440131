/** Errors of watermarks of videos. The messages are for logs of the operator. */
import { Schema } from "effect"

/** The program `ffmpeg` is not installed, so no video can be marked. */
export class ProgramMissing
  extends Schema.TaggedError<ProgramMissing>("@kinora/media/ProgramMissing")("ProgramMissing", {})
{}

/** The video exceeds a limit of `WatermarkOptions`. */
export class VideoTooLarge extends Schema.TaggedError<VideoTooLarge>("@kinora/media/VideoTooLarge")("VideoTooLarge", {
  /** Name of the limit. `bytesMax` also limits the marked video. */
  limit: Schema.Literals(["bytesMax", "sideMax"]),
  value: Schema.Finite,
  max: Schema.Finite
}) {}

/** The program failed or took too long, or a temporary file could not be used. */
export class ProgramFailed extends Schema.TaggedError<ProgramFailed>("@kinora/media/ProgramFailed")("ProgramFailed", {
  cause: Schema.Defect()
}) {}

/** The error of a video that could not be marked. */
export class WatermarkError extends Schema.TaggedError<WatermarkError>("@kinora/media/WatermarkError")(
  "WatermarkError",
  { reason: Schema.Union([ProgramMissing, VideoTooLarge, ProgramFailed]) }
) {
  override get message(): string {
    const { reason } = this
    switch (reason._tag) {
      case "ProgramMissing":
        return "The program ffmpeg, which marks videos, is not installed."
      case "VideoTooLarge":
        return `The video exceeds ${reason.limit}: ${reason.value}; the maximum is ${reason.max}.`
      case "ProgramFailed":
        return "The program ffmpeg could not mark the video."
    }
  }
}
