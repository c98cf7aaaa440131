/** Makes the function that marks videos with the program `ffmpeg`, one at a time. */
import { Effect, Semaphore, Stream } from "effect"
import { createReadStream } from "node:fs"
import { stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import sharp from "sharp"
import type { MarkedVideo, MediaFile, VideoFacts, WatermarkOptions } from "../../MediaFile.ts"
import { ProgramFailed, ProgramMissing, VideoTooLarge, WatermarkError } from "../../WatermarkError.ts"
import * as Ffmpeg from "../Ffmpeg.ts"
import type { TilesOf } from "./markImage.ts"

/** Makes the function, and the check whether the program is installed. */
export const make = Effect.fnUntraced(function*(options: WatermarkOptions, tilesOf: TilesOf) {
  const { bytesMax = 512 * 1024 * 1024, sideMax = 4096 } = options
  const settings: Ffmpeg.Settings = {
    program: options.program ?? "ffmpeg",
    directory: options.directory ?? tmpdir(),
    secondsMax: options.secondsMax ?? 600,
    pixelsMax: sideMax * sideMax
  }
  const isInstalled = yield* Effect.cached(Ffmpeg.isInstalled(settings))
  const permits = Semaphore.makeUnsafe(1)

  const check = Effect.fnUntraced(function*(bytes: number, { height, width }: VideoFacts) {
    if (!(yield* isInstalled)) return yield* new WatermarkError({ reason: new ProgramMissing() })
    if (bytes > bytesMax) return yield* tooLarge("bytesMax", bytes, bytesMax)
    const side = Math.max(width, height)
    if (side > sideMax) return yield* tooLarge("sideMax", side, sideMax)
  })

  /** Writes the mark. It is square, since the sides of a video are stated before rotation; the program clips it. */
  const writeMark = ({ height, width }: VideoFacts, target: string) =>
    Ffmpeg.attempt(async () => {
      const side = Math.max(width, height)
      const empty = { width: side, height: side, channels: 4 as const, background: "#0000" }
      const mark = sharp({ create: empty }).composite([await tilesOf(width, height)])
      await writeFile(target, await mark.png({ compressionLevel: 3 }).toBuffer())
    })

  const mark = Effect.fnUntraced(function*<E>(file: MediaFile<E>, facts: VideoFacts) {
    const directory = yield* Ffmpeg.temporaryDirectory(settings)
    const [video, picture, target] = [join(directory, "video"), join(directory, "mark"), join(directory, "marked")]
    yield* Ffmpeg.copy(file, video)
    yield* writeMark(facts, picture)
    yield* Ffmpeg.run(
      settings,
      [
        Ffmpeg.commonArguments,
        Ffmpeg.videoArguments(settings, facts.mime, video),
        ["-protocol_whitelist", "file,pipe", "-f", "png_pipe", "-i", `file:${picture}`],
        // Players need even sides. Frames keep their times, sound and text their bytes.
        ["-filter_complex", "[0:v:0][1:v:0]overlay,pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p[marked]"],
        ["-map", "[marked]", "-map", "0:a?", "-c:a", "copy", "-map_metadata", "0", "-fps_mode", "vfr"],
        encoders[facts.mime],
        ["-threads", "1", "-fs", `${bytesMax}`, `file:${target}`]
      ].flat()
    )
    const { size } = yield* Ffmpeg.attempt(() => stat(target))
    // The program ends a longer video there, and does not fail.
    if (size >= bytesMax) return yield* tooLarge("bytesMax", size, bytesMax)
    const body = Stream.suspend(() =>
      Stream.fromAsyncIterable<Uint8Array, WatermarkError>(createReadStream(target), failed)
    )
    const marked: MarkedVideo = { mime: facts.mime, bytes: size, body }
    return marked
  })

  const markVideo = Effect.fnUntraced(function*<E>(file: MediaFile<E>, facts: VideoFacts) {
    yield* check(file.bytes, facts)
    return yield* mark(file, facts).pipe(
      permits.withPermits(1),
      Effect.catchIf(
        (error): error is Ffmpeg.FfmpegFailed => error instanceof Ffmpeg.FfmpegFailed,
        ({ cause }) => Effect.fail(failed(cause))
      )
    )
  })

  return { isInstalled, markVideo }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Encodings that browsers play. WebM has no H.264. */
const encoders: Readonly<Record<VideoFacts["mime"], ReadonlyArray<string>>> = {
  "video/mp4": ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-movflags", "+faststart", "-f", "mp4"],
  "video/webm": [
    "-c:v",
    "libvpx-vp9",
    "-deadline",
    "realtime",
    "-cpu-used",
    "8",
    "-crf",
    "30",
    "-b:v",
    "0",
    "-f",
    "webm"
  ]
}

const tooLarge = (limit: VideoTooLarge["limit"], value: number, max: number) =>
  new WatermarkError({ reason: new VideoTooLarge({ limit, value, max }) })

const failed = (cause: unknown) => new WatermarkError({ reason: new ProgramFailed({ cause }) })
