/** Draws a video and encodes it. Deterministic: the same drawing gives the same bytes on the same build and encoder. */
import sharp from "sharp"
import { frameRate } from "../../ClipSize.ts"
import { bloom } from "../motion/bloom.ts"
import { city } from "../motion/city.ts"
import { cosmos } from "../motion/cosmos.ts"
import { firstFrame } from "../motion/firstFrame.ts"
import { flow } from "../motion/flow.ts"
import { geometry } from "../motion/geometry.ts"
import { landscape } from "../motion/landscape.ts"
import type { Motion } from "../motion/layers.ts"
import { type Drawing, software } from "../picture.ts"
import { planOf, type SceneName } from "../plan.ts"
import { makeSurface } from "../surface.ts"
import { type Ffmpeg, startFfmpeg, startWasm } from "./encoders.ts"
import { finished } from "./mp4.ts"

/** The part of a drawing that a video depends on. */
export interface Clip extends Omit<Drawing, "format" | "seconds"> {
  readonly seconds: number
}

/** Returns a function that paints the raw pixels of the frame at a time in seconds, four bytes each. */
export const framesOf = async ({ height, key, prompt, references, seconds, width }: Clip) => {
  const [reference] = references
  const plan = planOf(prompt, key)
  const motion = reference === undefined ? motions[plan.scene] : firstFrame(await pixelsOf(reference))
  const surface = makeSurface(width, height)
  const paint = motion(plan, surface, seconds)
  return (time: number): Uint8Array => {
    paint(time)
    return surface.canvas.data()
  }
}

/** Draws a video. Returns the MP4 file and its first frame as a WebP file. Reports progress from 0 to 1. */
export const drawClip = async (
  clip: Clip,
  ffmpeg: Ffmpeg | null,
  report: (progress: number) => void
): Promise<{ readonly file: Uint8Array<ArrayBuffer>; readonly poster: Uint8Array }> => {
  const { height, seconds, width } = clip
  const frames = await framesOf(clip)
  const poster = await posterOf(frames(0), width, height)
  const footage = { width, height, frameRate }
  const encoder = ffmpeg === null ? await startWasm(footage) : await startFfmpeg(footage, ffmpeg)
  const count = frameRate * seconds
  for (let frame = 0; frame < count; frame++) {
    await encoder.add(frames(frame / frameRate))
    report((frame + 1) / count)
  }
  return { file: finished(await encoder.finish(), software), poster }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const motions: Readonly<Record<SceneName, Motion>> = { landscape, cosmos, city, bloom, flow, geometry }

const posterOf = (rgba: Uint8Array, width: number, height: number) =>
  sharp(rgba, { raw: { width, height, channels: 4 } })
    .removeAlpha()
    .withExif({ IFD0: { Software: software } })
    .webp({ quality: 88, effort: 1 })
    .toBuffer()

const pixelsOf = (reference: string) => sharp(Buffer.from(reference, "base64")).ensureAlpha().raw().toBuffer()
