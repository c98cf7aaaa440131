/** Shrinks input images to the size that the painting uses. */
import { GeneratorError } from "@kinora/generator"
import type { InputImage } from "@kinora/generator/GenerationRequest"
import { Effect, Semaphore, Stream } from "effect"
import sharp from "sharp"
import { gridOf, type Place, placeOf, regionsOf } from "./painting/layout.ts"

/** Options for `make`. */
export interface ReferencesOptions {
  /** Maximum size of an image, in bytes. */
  readonly bytesMax: number
}

/** Maximum number of images that are read at the same time. Each has a file and a decoder in memory. */
const concurrency = 2

/** Maximum time for one image, in whole seconds. */
const secondsMax = 30

/** Quality of a shrunk reference, of which the painting uses light and colour. */
const shrunkQuality = 80

/** Quality of a first frame, which the video shows in its full size. */
const frameQuality = 94

type Size = Pick<Place, "columns" | "rows">

/** Maximum number of pixels of an image. */
const pixelsMax = 100_000_000

/**
 * Creates functions that prepare references. They return WebP files in base64, and the
 * same files for the same images.
 *
 * - `shrink` shrinks references to the part that a picture of the given size shows of
 *   each, about 400 pixels across in total.
 * - `frame` crops a reference to the size of a video, for its first frame.
 */
export const make = ({ bytesMax }: ReferencesOptions) => {
  const permits = Semaphore.makeUnsafe(concurrency)

  const fit = Effect.fnUntraced(function*(image: InputImage, { columns, rows }: Size, quality: number) {
    if (image.bytes > bytesMax) return yield* unreadable("A reference image is too large.")
    const bytes = yield* Stream.mkUint8Array(image.body)
    const shrunk = yield* Effect.tryPromise({
      try: () =>
        sharp(bytes, { limitInputPixels: pixelsMax, failOn: "error" })
          .timeout({ seconds: secondsMax })
          .resize(columns, rows, { fit: "cover", position: sharp.strategy.attention })
          .flatten({ background: "white" })
          .webp({ quality, effort: 2 })
          .toBuffer(),
      catch: () => unreadable("Decoding a reference image failed.")
    })
    return shrunk.toString("base64")
  })

  const frame = (
    image: InputImage,
    width: number,
    height: number
  ): Effect.Effect<string, GeneratorError.GeneratorError> =>
    permits.withPermits(1)(fit(image, { columns: width, rows: height }, frameQuality))

  const shrink = (
    images: ReadonlyArray<InputImage>,
    width: number,
    height: number
  ): Effect.Effect<ReadonlyArray<string>, GeneratorError.GeneratorError> => {
    const regions = regionsOf(images.length, width / height)
    const grid = gridOf(width, height)
    return Effect.forEach(
      images.flatMap((image, index) => {
        const region = regions[index]
        return region === undefined ? [] : [{ image, place: placeOf(region, grid) }]
      }),
      ({ image, place }) => permits.withPermits(1)(fit(image, place, shrunkQuality))
    )
  }

  return { frame, shrink }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const unreadable = (message: string) =>
  new GeneratorError.GeneratorError({
    reason: new GeneratorError.Permanent({ code: "invalid_input", reason: null, message })
  })
