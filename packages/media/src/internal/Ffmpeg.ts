/** Extracts the first frame of a video with the program `ffmpeg`, in a separate process. */
import { Data, Effect } from "effect"
import { spawn } from "node:child_process"
import { mkdtemp, open, rm } from "node:fs/promises"
import { join } from "node:path"
import type { MediaFile, VideoFacts } from "../MediaFile.ts"

/** Limits of a run. See `FrameOptions`. */
export interface Settings {
  readonly program: string
  readonly directory: string
  readonly secondsMax: number
  readonly pixelsMax: number
  /** Maximum width and height of the frame in pixels. */
  readonly sideMax: number
}

/** The program failed, or a temporary file could not be written. */
export class FfmpegFailed extends Data.TaggedError("FfmpegFailed")<{ readonly cause: unknown }> {}

/** Returns whether the program can be started. */
export const isInstalled = (settings: Settings): Effect.Effect<boolean> =>
  Effect.match(run(settings, ["-version"]), { onSuccess: () => true, onFailure: () => false })

/** Returns the first frame as a PNG. Copies the file to a temporary file, since the index of an MP4 can be at its end. */
export const firstFrame = <E>(settings: Settings, file: MediaFile<E>, { mime }: VideoFacts) =>
  Effect.gen(function*() {
    const directory = yield* Effect.acquireRelease(
      attempt(() => mkdtemp(join(settings.directory, "kinora-frame-"))),
      (directory) => Effect.ignore(attempt(() => rm(directory, { recursive: true, force: true })))
    )
    const copied = join(directory, "video")
    yield* copy(file, copied)
    return yield* run(settings, argumentsOf(settings, mime, copied))
  }).pipe(Effect.scoped)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum length of the output: a PNG of 1024 x 1024 pixels has at most about 4 MiB. */
const outputBytesMax = 16 * 1024 * 1024

/** Maximum length of a block of memory in the program. */
const allocationBytesMax = 256 * 1024 * 1024

/** Maximum length of the messages of the program that are logged. */
const complaintMax = 2000

const partBytes = 1024 * 1024

/** The demuxer is fixed and reads local files only, so that a playlist in the file is not followed. */
const argumentsOf = ({ pixelsMax, sideMax }: Settings, mime: VideoFacts["mime"], file: string): ReadonlyArray<string> =>
  [
    ["-nostdin", "-v", "error", "-max_alloc", `${allocationBytesMax}`, "-protocol_whitelist", "file,pipe"],
    ["-f", mime === "video/mp4" ? "mov" : "matroska", "-max_pixels", `${pixelsMax}`, "-threads", "1"],
    ["-i", `file:${file}`, "-map", "0:v:0", "-frames:v", "1", "-threads", "1"],
    ["-vf", `scale='min(${sideMax},iw)':'min(${sideMax},ih)':force_original_aspect_ratio=decrease`],
    ["-c:v", "png", "-f", "image2pipe", "pipe:1"]
  ].flat()

const copy = Effect.fnUntraced(function*<E>(file: MediaFile<E>, target: string) {
  const handle = yield* Effect.acquireRelease(
    attempt(() => open(target, "wx")),
    (handle) => Effect.ignore(attempt(() => handle.close()))
  )
  for (let start = 0; start < file.bytes; start += partBytes) {
    const part = yield* file.read(start, Math.min(partBytes, file.bytes - start))
    yield* attempt(() => handle.writeFile(part))
  }
}, Effect.scoped)

/** Runs the program and returns its output. Kills it on interruption, after `secondsMax`, and if it writes too much. */
const run = ({ program, secondsMax }: Settings, args: ReadonlyArray<string>): Effect.Effect<Uint8Array, FfmpegFailed> =>
  Effect.callback((resume) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      // The environment can contain secrets. Without `PATH`, the system looks in its default folders.
      env: {},
      timeout: secondsMax * 1000,
      killSignal: "SIGKILL"
    })
    const parts: Array<Uint8Array> = []
    let bytes = 0
    let complaint = ""
    child.stdout.on("data", (part: Buffer) => {
      bytes += part.length
      if (bytes > outputBytesMax) child.kill("SIGKILL")
      else parts.push(part)
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      complaint = (complaint + text).slice(-complaintMax)
    })
    child.on("error", (cause) => resume(Effect.fail(new FfmpegFailed({ cause }))))
    child.on("close", (code, signal) =>
      resume(
        code === 0
          ? Effect.succeed(Buffer.concat(parts))
          : Effect.fail(new FfmpegFailed({ cause: `${program} ended with ${code ?? signal}: ${complaint}` }))
      ))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const attempt = <A>(call: () => Promise<A>): Effect.Effect<A, FfmpegFailed> =>
  Effect.tryPromise({ try: call, catch: (cause) => new FfmpegFailed({ cause }) })
