/** Files to probe, and what a probe returns. */
import type { Duration, Effect, Stream } from "effect"
import type { ImageMime } from "./MediaError.ts"
import type { WatermarkError } from "./WatermarkError.ts"

/** A file that is read in parts, so that it is never whole in memory. */
export interface MediaFile<E> {
  /** Length of the file. */
  readonly bytes: number
  /** Returns `length` bytes from `start`. The range is always inside the file. */
  readonly read: (start: number, length: number) => Effect.Effect<Uint8Array, E>
}

/** Facts of an image or a video. */
export type Facts = ImageFacts | VideoFacts

/** Facts of an image, from its header. */
export interface ImageFacts {
  readonly kind: "image"
  readonly mime: ImageMime
  /** Pixels, before the orientation of the file is applied. */
  readonly width: number
  /** Pixels, before the orientation of the file is applied. */
  readonly height: number
}

/** Facts of a video, from its container. */
export interface VideoFacts {
  readonly kind: "video"
  readonly mime: "video/mp4" | "video/webm"
  readonly codec: Codec
  /** Pixels of the largest video track, before rotation. */
  readonly width: number
  /** Pixels of the largest video track, before rotation. */
  readonly height: number
  /** Duration. If the file does not state it, the start of its last fragment. */
  readonly duration: Duration.Duration
}

/** Codecs of videos. */
export type Codec = "h264" | "hevc" | "vp8" | "vp9" | "av1"

/** Limits of `Media.probe`. */
export interface ProbeLimits {
  /** Maximum length of the file in bytes. Default 2 GiB. */
  readonly bytesMax?: number | undefined
  /** Maximum width and height in pixels. Default 16,384. */
  readonly sideMax?: number | undefined
  /** Maximum number of pixels of an image or a frame. Default 134,217,728. */
  readonly pixelsMax?: number | undefined
  /** Maximum duration of a video. Default 1 hour. */
  readonly durationMax?: Duration.Input | undefined
  /** Maximum number of tracks of a video. Default 8. */
  readonly tracksMax?: number | undefined
  /** Maximum number of parts of at most 16 KiB that are read, which bounds the time for a file. Default 100,000. */
  readonly readsMax?: number | undefined
}

/** Options for `Media.firstFrame`. */
export interface FrameOptions {
  /** Path of the program, or its name in `/usr/bin` or `/bin`. Default `ffmpeg`. */
  readonly program?: string | undefined
  /** Directory of temporary copies of videos. Default: that of the system. */
  readonly directory?: string | undefined
  /** Maximum length of a video that is copied, in bytes. Default 512 MiB. */
  readonly fileBytesMax?: number | undefined
  /** Maximum number of pixels of a frame. Default 40 megapixels. */
  readonly pixelsMax?: number | undefined
  /** Maximum time for one video, in seconds. Default 20. */
  readonly secondsMax?: number | undefined
}

/** Options for `Media.watermarkVideo`. */
export interface WatermarkOptions {
  /** Path of the program, or its name in `/usr/bin` or `/bin`. Default: that of `FrameOptions`. */
  readonly program?: string | undefined
  /** Directory of temporary copies of videos. Default: that of `FrameOptions`. */
  readonly directory?: string | undefined
  /** Maximum length of a video and of the marked video, in bytes. Default 512 MiB. */
  readonly bytesMax?: number | undefined
  /** Maximum width and height of a video in pixels. Default 4,096. */
  readonly sideMax?: number | undefined
  /** Maximum time for one video, in seconds. Default 600. */
  readonly secondsMax?: number | undefined
}

/** A video with a watermark. */
export interface MarkedVideo {
  readonly mime: VideoFacts["mime"]
  /** Length of the file. */
  readonly bytes: number
  /** The file. Can be read more than once, until the scope of `watermarkVideo` closes. */
  readonly body: Stream.Stream<Uint8Array, WatermarkError>
}
