/** Marks images. */
import sharp, { type Sharp } from "sharp"
import * as Mark from "./mark.ts"

/** The tiles of a picture, as an input of `composite`. */
export interface Tiles {
  readonly input: Buffer
  readonly raw: { readonly width: number; readonly height: number; readonly channels: 4 }
  readonly tile: true
  readonly gravity: "northwest"
}

/** Returns the tiles for a picture of this size in pixels. */
export type TilesOf = (width: number, height: number) => Promise<Tiles>

/** Makes the function that scales the tiles from one drawing. */
export const makeTilesOf = (): TilesOf => {
  const raw = { width: Mark.drawnSide, height: Mark.drawnSide, channels: 4 } as const
  let drawn: Buffer | undefined
  return async (width, height) => {
    drawn ??= Mark.draw()
    const side = Mark.tileSide(width, height)
    // Other kernels change pixels beside the mark.
    const input = await sharp(drawn, { raw }).resize(side, side, { kernel: "linear" }).raw().toBuffer()
    return { input, raw: { width: side, height: side, channels: 4 }, tile: true, gravity: "northwest" }
  }
}

/** Blends the tiles over an image. Keeps EXIF and XMP, which can contain how the image was made, and converts to sRGB. */
export const withTiles = (image: Sharp, tiles: Tiles): Sharp =>
  image.autoOrient().composite([tiles]).keepExif().keepXmp()
