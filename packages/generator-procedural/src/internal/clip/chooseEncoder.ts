/** Chooses the encoder of videos when a generator starts. */
import { Data, Effect } from "effect"
import { execFile } from "node:child_process"

/**
 * Which encoder makes videos: `wasm` works on any machine, `ffmpeg` is the program of that
 * name with the encoder `libx264`, and `auto` is `ffmpeg` if it works here, else `wasm`.
 */
export type EncoderChoice = "auto" | "wasm" | "ffmpeg"

/** The encoder `ffmpeg` was required, and it does not work on this machine. */
export class FfmpegUnusable extends Data.TaggedError("FfmpegUnusable")<{
  readonly program: string
  readonly cause: unknown
}> {
  override get message(): string {
    return `The program ${this.program} cannot encode H.264 with libx264. Install it, or select the encoder auto or wasm.`
  }
}

/**
 * Returns an effect that returns the program `ffmpeg` if videos are to be encoded with it.
 * A program that is required is tried now; with `auto` it is tried once, for the first
 * video. The trial is a video of one frame.
 */
export const chooseEncoder = Effect.fnUntraced(function*(choice: EncoderChoice, program: string) {
  if (choice === "wasm") return wasm
  if (choice === "auto") return yield* Effect.cached(Effect.uninterruptible(programIfUsable(program)))
  yield* tried(program)
  return Effect.succeed(program)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Milliseconds after which the program is unusable. */
const patience = 10_000

const trial = "-v error -nostdin -f lavfi -i color=s=64x64:d=0.1 -frames:v 1 -c:v libx264 -f null -".split(" ")

const wasm = Effect.succeed(undefined)

const programIfUsable = Effect.fnUntraced(function*(program: string) {
  const isUsable = yield* Effect.isSuccess(tried(program))
  yield* Effect.logDebug(`Videos are encoded ${isUsable ? `with ${program}` : "in WebAssembly"}`)
  return isUsable ? program : undefined
})

const tried = (program: string) =>
  Effect.callback<void, FfmpegUnusable>((resume) => {
    const child = execFile(program, trial, { timeout: patience }, (cause) => {
      resume(cause === null ? Effect.void : Effect.fail(new FfmpegUnusable({ program, cause })))
    })
    return Effect.sync(() => void child.kill())
  })
