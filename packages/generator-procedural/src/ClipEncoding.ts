/** The encoding of videos in WebAssembly, for programs that compare with it. */
import type H264 from "h264-mp4-encoder"
import { createRequire } from "node:module"

/** Size and speed of a video. */
export interface Footage {
  /** Width in pixels, an even number. */
  readonly width: number
  /** Height in pixels, an even number. */
  readonly height: number
  /** Frames per second. */
  readonly frameRate: number
}

/** Returns the settings of an encoder of `h264-mp4-encoder`. */
export const h264Settings = ({ frameRate, height, width }: Footage) => ({
  width,
  height,
  frameRate,
  speed: 10,
  quantizationParameter: 26,
  groupOfPictures: 2 * frameRate
})

/** An encoder of `h264-mp4-encoder`. */
export type H264Encoder = Awaited<ReturnType<typeof H264.createH264MP4Encoder>>

/** Creates an encoder of `h264-mp4-encoder`. */
export const createH264Encoder = (): Promise<H264Encoder> => {
  h264 ??= loadH264()
  return h264.createH264MP4Encoder()
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

let h264: typeof H264 | undefined

/**
 * Loads the module and removes the handlers that it adds: they end the process after any exception or rejection, and print
 * the whole module in place of the error.
 */
const loadH264 = (): typeof H264 => {
  const before = new Set(handlers().map(([, handler]) => handler))
  const module = createRequire(import.meta.url)("h264-mp4-encoder") as typeof H264
  for (const [event, handler] of handlers()) if (!before.has(handler)) process.removeListener(event, handler)
  return module
}

const handlers = () =>
  ["uncaughtException", "unhandledRejection"].flatMap((event) =>
    process.rawListeners(event).map((handler) => [event, handler as () => void] as const)
  )
