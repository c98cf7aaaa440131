/** Makes the function that extracts first frames, one at a time. */
import { Effect, Option, Semaphore } from "effect"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { FrameOptions, MediaFile, VideoFacts } from "../MediaFile.ts"
import * as Ffmpeg from "./Ffmpeg.ts"

/** Makes the function. `sideMax` is the maximum width and height of a frame. */
export const make = Effect.fnUntraced(function*(options: FrameOptions, sideMax: number) {
  const { fileBytesMax = 512 * 1024 * 1024 } = options
  const settings: Ffmpeg.Settings = {
    program: options.program ?? "ffmpeg",
    directory: options.directory ?? tmpdir(),
    secondsMax: options.secondsMax ?? 20,
    pixelsMax: options.pixelsMax ?? 40_000_000
  }
  const isInstalled = yield* Effect.cached(Ffmpeg.isInstalled(settings))
  const permits = Semaphore.makeUnsafe(1)

  /** Returns the first frame as a PNG. */
  const extract = Effect.fnUntraced(function*<E>(file: MediaFile<E>, { mime }: VideoFacts) {
    const copied = join(yield* Ffmpeg.temporaryDirectory(settings), "video")
    yield* Ffmpeg.copy(file, copied)
    return yield* Ffmpeg.run(
      settings,
      [
        Ffmpeg.commonArguments,
        Ffmpeg.videoArguments(settings, mime, copied),
        ["-map", "0:v:0", "-frames:v", "1", "-threads", "1"],
        ["-vf", `scale='min(${sideMax},iw)':'min(${sideMax},ih)':force_original_aspect_ratio=decrease`],
        ["-c:v", "png", "-f", "image2pipe", "pipe:1"]
      ].flat()
    )
  }, Effect.scoped)

  return Effect.fnUntraced(function*<E>(file: MediaFile<E>, facts: VideoFacts) {
    if (file.bytes > fileBytesMax || !(yield* isInstalled)) return Option.none<Uint8Array>()
    return yield* extract(file, facts).pipe(
      permits.withPermits(1),
      Effect.asSome,
      Effect.catchIf(
        (error): error is Ffmpeg.FfmpegFailed => error instanceof Ffmpeg.FfmpegFailed,
        (error) =>
          Effect.as(Effect.logWarning("No frame of the video could be extracted", error), Option.none<Uint8Array>())
      )
    )
  })
})
