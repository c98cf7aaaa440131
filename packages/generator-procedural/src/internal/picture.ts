/** Draws a picture and encodes it. Deterministic: the same drawing gives the same bytes on the same build. */
import sharp from "sharp"
import { type Guide, guideOf } from "./painting/guide.ts"
import { painting } from "./painting/painting.ts"
import { planOf, type SceneName } from "./plan.ts"
import { bloom } from "./scenes/bloom.ts"
import { city } from "./scenes/city.ts"
import { cosmos } from "./scenes/cosmos.ts"
import { flow } from "./scenes/flow.ts"
import { geometry } from "./scenes/geometry.ts"
import { landscape } from "./scenes/landscape.ts"
import { makeSurface, type Scene } from "./surface.ts"
import { paintTitle } from "./title.ts"

/** A picture or a video to draw: JSON that contains everything needed to draw it again. */
export interface Drawing {
  readonly prompt: string
  /** Distinguishes pictures of the same prompt. */
  readonly key: string
  /** Pixels. */
  readonly width: number
  /** Pixels. */
  readonly height: number
  readonly format: "png" | "jpeg" | "webp" | "mp4"
  /** Duration of a video, `null` for a picture. */
  readonly seconds: number | null
  /**
   * Reference images in base64, prepared by `References`: those of a picture, or the first
   * frame of a video. If empty, the drawing depends on the prompt only.
   */
  readonly references: ReadonlyArray<string>
}

/** The part of a drawing that a picture depends on. */
export type Picture = Omit<Drawing, "seconds">

/** Draws the raw pixels of a picture, four bytes each, from a guide if there is one. */
export const paint = ({ height, key, prompt, width }: Picture, guide?: Guide): Uint8Array => {
  const plan = planOf(prompt, key)
  const surface = makeSurface(width, height)
  const scene = guide === undefined ? scenes[plan.scene] : painting(guide)
  scene(plan, surface)
  if (plan.title !== null) paintTitle(plan, surface, plan.title)
  return surface.canvas.data()
}

/** Draws a picture and encodes it as a file. */
export const draw = async (drawing: Picture): Promise<Uint8Array> => {
  const { format, height, references, width } = drawing
  if (format === "mp4") throw new Error("A picture has no format mp4")
  const guide = references.length === 0 ? undefined : await guideOf(references, width, height)
  const image = sharp(paint(drawing, guide), { raw: { width, height, channels: 4 } })
    .removeAlpha()
    .withExif({ IFD0: { Software: software } })
  const encoders = {
    png: () => image.png({ compressionLevel: 4 }),
    jpeg: () => image.jpeg({ quality: 90, chromaSubsampling: "4:4:4" }),
    webp: () => image.webp({ quality: 88, effort: 1 })
  }
  return encoders[format]().toBuffer()
}

/** Name of the generator in its files. */
export const software = "Kinora procedural generator, no AI model"

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const scenes: Readonly<Record<SceneName, Scene>> = { landscape, cosmos, city, bloom, flow, geometry }
