/** Makes the function that extracts first frames, one at a time. */
import { Effect, Option, Semaphore } from "effect"
import { tmpdir } from "node:os"
import type { FrameOptions, MediaFile, VideoFacts } from "../MediaFile.ts"
import * as Ffmpeg from "./Ffmpeg.ts"

/** Makes the function. `sideMax` is the maximum width and height of a frame. */
export const make = Effect.fnUntraced(function*(options: FrameOptions, sideMax: number) {
  const { fileBytesMax = 512 * 1024 * 1024 } = options
  const settings: Ffmpeg.Settings = {
    program: options.program ?? "ffmpeg",
    directory: options.directory ?? tmpdir(),
    secondsMax: options.secondsMax ?? 20,
    pixelsMax: options.pixelsMax ?? 40_000_000,
    sideMax
  }
  const isInstalled = yield* Effect.cached(Ffmpeg.isInstalled(settings))
  const permits = Semaphore.makeUnsafe(1)

  return Effect.fnUntraced(function*<E>(file: MediaFile<E>, facts: VideoFacts) {
    if (file.bytes > fileBytesMax || !(yield* isInstalled)) return Option.none<Uint8Array>()
    return yield* Ffmpeg.firstFrame(settings, file, facts).pipe(
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
