/**
 * Encoders of H.264 in MP4: WebAssembly on any machine, or the program `ffmpeg`, which
 * needs about half of the processor time.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createH264Encoder, type Footage, h264Settings } from "../../ClipEncoding.ts"

/** A run of the program `ffmpeg`. */
export interface Ffmpeg {
  /** Path or name of the program. */
  readonly program: string
  /** File that it writes. The caller removes it. */
  readonly file: string
}

/** An encoder of one video. */
export interface Encoder {
  /** Adds a frame of four bytes per pixel. */
  readonly add: (rgba: Uint8Array) => Promise<void>
  /** Returns the MP4 file. Called once, after the last frame. */
  readonly finish: () => Promise<Uint8Array>
}

/** Starts an encoder in WebAssembly. */
export const startWasm = async (footage: Footage): Promise<Encoder> => {
  const encoder = await createH264Encoder()
  Object.assign(encoder, h264Settings(footage))
  encoder.initialize()
  return {
    add: (rgba) => {
      encoder.addFrameRgba(rgba)
      // Gives the event loop a turn, in which the memory of the frame is freed.
      return new Promise((resolve) => void setImmediate(resolve))
    },
    finish: () => {
      encoder.finalize()
      const file = encoder.FS.readFile(encoder.outputFilename)
      encoder.FS.unlink(encoder.outputFilename)
      encoder.delete()
      return Promise.resolve(file)
    }
  }
}

/** Starts `ffmpeg`. It ends when the pipe to it closes, so it does not outlive its thread. */
export const startFfmpeg = async (footage: Footage, { file, program }: Ffmpeg): Promise<Encoder> => {
  const child = spawn(program, [...argumentsOf(footage), file], { stdio: ["pipe", "ignore", "pipe"] })
  let complaint = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(-complaintMax)
  })
  const wait = async (): Promise<void> => {
    const [code] = await once(child, "close")
    if (code !== 0) throw new Error(`ffmpeg ended with code ${String(code)}: ${complaint}`)
  }
  const ended = wait()
  ended.catch(() => undefined)
  // The code and the messages of the program have more details than the error of a pipe that it closed.
  child.stdin.on("error", () => undefined)
  await once(child, "spawn")
  return {
    add: async (rgba) => {
      if (!child.stdin.write(rgba)) await Promise.race([once(child.stdin, "drain").catch(() => undefined), ended])
      await new Promise((resolve) => void setImmediate(resolve))
    },
    finish: async () => {
      child.stdin.end()
      await ended
      return readFile(file)
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum length of the messages of `ffmpeg` that an error shows. */
const complaintMax = 2000

/** One thread, so that the same frames give the same bytes and a video takes one core. */
const argumentsOf = ({ frameRate, height, width }: Footage): ReadonlyArray<string> =>
  [
    "-v error -nostdin -y",
    `-f rawvideo -pix_fmt rgba -s ${width}x${height} -r ${frameRate} -i pipe:0`,
    `-c:v libx264 -preset veryfast -crf 22 -pix_fmt yuv420p -threads 1 -g ${2 * frameRate}`,
    "-vf scale=out_color_matrix=bt709 -colorspace bt709 -color_primaries bt709 -color_trc bt709",
    "-fflags +bitexact -flags:v +bitexact -f mp4"
  ].flatMap((group) => group.split(" "))
