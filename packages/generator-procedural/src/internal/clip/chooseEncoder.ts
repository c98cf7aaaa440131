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
 * Returns the program `ffmpeg` if videos are to be encoded with it, and logs the choice.
 * The program is tried once, with a video of one frame.
 */
export const chooseEncoder = Effect.fnUntraced(function*(choice: EncoderChoice, program: string) {
  const found = choice === "wasm" ? undefined : yield* Effect.result(tried(program))
  if (choice === "ffmpeg" && found?._tag === "Failure") return yield* found.failure
  const chosen = found?._tag === "Success" ? program : undefined
  yield* Effect.logDebug(`Videos are encoded ${chosen === undefined ? "in WebAssembly" : `with ${chosen}`}`)
  return chosen
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Milliseconds after which the program is unusable. */
const patience = 10_000

const trial = "-v error -nostdin -f lavfi -i color=s=64x64:d=0.1 -frames:v 1 -c:v libx264 -f null -".split(" ")

const tried = (program: string) =>
  Effect.callback<void, FfmpegUnusable>((resume) => {
    const child = execFile(program, trial, { timeout: patience }, (cause) => {
      resume(cause === null ? Effect.void : Effect.fail(new FfmpegUnusable({ program, cause })))
    })
    return Effect.sync(() => void child.kill())
  })
