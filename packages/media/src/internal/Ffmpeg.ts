/** Runs the program `ffmpeg` in a separate process, on temporary copies of videos. */
import { Clock, Data, Effect, type Scope } from "effect"
import { spawn } from "node:child_process"
import { mkdtemp, open, readdir, rm, stat } from "node:fs/promises"
import { constants } from "node:os"
import { join } from "node:path"
import type { MediaFile, VideoFacts } from "../MediaFile.ts"
import { putLast } from "./processPriority.ts"

/** Limits of a run. */
export interface Settings {
  readonly program: string
  readonly directory: string
  readonly secondsMax: number
  readonly pixelsMax: number
}

/** The program failed, or a temporary file could not be used. */
export class FfmpegFailed extends Data.TaggedError("FfmpegFailed")<{ readonly cause: unknown }> {}

/** Returns whether the program can be started. */
export const isInstalled = (settings: Settings): Effect.Effect<boolean> =>
  Effect.match(run(settings, ["-version"]), { onSuccess: () => true, onFailure: () => false })

/** Makes a temporary directory, which is removed with the scope. Removes those of processes that were killed. */
export const temporaryDirectory = ({ directory }: Settings): Effect.Effect<string, FfmpegFailed, Scope.Scope> =>
  Effect.andThen(
    Effect.ignore(removeLeft(directory), { log: "Warn", message: "Old videos could not be removed" }),
    Effect.acquireRelease(
      attempt(() => mkdtemp(join(directory, prefix))),
      (directory) => Effect.ignore(attempt(() => rm(directory, { recursive: true, force: true })))
    )
  )

/** Copies a video, since the index of an MP4 can be at its end. */
export const copy = Effect.fnUntraced(function*<E>(file: MediaFile<E>, target: string) {
  const handle = yield* Effect.acquireRelease(
    attempt(() => open(target, "wx")),
    (handle) => Effect.ignore(attempt(() => handle.close()))
  )
  for (let start = 0; start < file.bytes; start += partBytes) {
    const part = yield* file.read(start, Math.min(partBytes, file.bytes - start))
    yield* attempt(() => handle.writeFile(part))
  }
}, Effect.scoped)

/** Arguments before all others. */
export const commonArguments: ReadonlyArray<string> = ["-nostdin", "-v", "error", "-max_alloc", `${256 * 1024 * 1024}`]

/** Arguments for a local video. The demuxer is fixed and reads local files only, so that a playlist in the file is not followed. */
export const videoArguments = (
  { pixelsMax }: Settings,
  mime: VideoFacts["mime"],
  file: string
): ReadonlyArray<string> =>
  [
    ["-protocol_whitelist", "file,pipe", "-f", mime === "video/mp4" ? "mov" : "matroska"],
    ["-max_pixels", `${pixelsMax}`, "-threads", "1", "-i", `file:${file}`]
  ].flat()

/** Runs the program and returns its output. Kills it on interruption, after `secondsMax`, and if it writes too much. */
export const run = (
  { program, secondsMax }: Settings,
  args: ReadonlyArray<string>
): Effect.Effect<Uint8Array, FfmpegFailed> =>
  Effect.callback((resume) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      // The environment can contain secrets. Without `PATH`, the system looks in its default folders.
      env: {},
      timeout: secondsMax * 1000,
      killSignal: "SIGKILL"
    })
    // Requests and other jobs come first.
    putLast(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
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

/** Calls a function of the file system. */
export const attempt = <A>(call: () => Promise<A>): Effect.Effect<A, FfmpegFailed> =>
  Effect.tryPromise({ try: call, catch: (cause) => new FfmpegFailed({ cause }) })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Prefix of the names of temporary directories, which `generator-procedural` uses too. */
const prefix = "kinora-clip-"

/** Age after which a temporary directory is that of a killed process. No video takes as long. */
const leftAfter = 24 * 60 * 60 * 1000

const removeLeft = Effect.fnUntraced(function*(parent: string) {
  const now = yield* Clock.currentTimeMillis
  yield* attempt(async () => {
    for (const name of await readdir(parent)) {
      if (!name.startsWith(prefix)) continue
      const path = join(parent, name)
      // Another process may have removed it.
      const found = await stat(path).catch(() => undefined)
      if (found !== undefined && now - found.mtimeMs > leftAfter) await rm(path, { recursive: true, force: true })
    }
  })
})

/** Maximum length of the output: a PNG of 1024 x 1024 pixels has at most about 4 MiB. */
const outputBytesMax = 16 * 1024 * 1024

/** Maximum length of the messages of the program that are logged. */
const complaintMax = 2000

const partBytes = 1024 * 1024
