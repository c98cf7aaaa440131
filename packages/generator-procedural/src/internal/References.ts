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

/** Maximum number of pixels of an image. */
const pixelsMax = 100_000_000

/**
 * Creates a function that shrinks references to the part that a picture of the given size
 * shows of each, about 400 pixels across in total. It returns WebP files in base64, and
 * the same files for the same images.
 */
export const make = ({ bytesMax }: ReferencesOptions) => {
  const permits = Semaphore.makeUnsafe(concurrency)

  const shrink = Effect.fnUntraced(function*(image: InputImage, { columns, rows }: Place) {
    if (image.bytes > bytesMax) return yield* unreadable("A reference image is too large.")
    const bytes = yield* Stream.mkUint8Array(image.body)
    const shrunk = yield* Effect.tryPromise({
      try: () =>
        sharp(bytes, { limitInputPixels: pixelsMax, failOn: "error" })
          .timeout({ seconds: secondsMax })
          .resize(columns, rows, { fit: "cover", position: sharp.strategy.attention })
          .flatten({ background: "white" })
          .webp({ quality: 80, effort: 2 })
          .toBuffer(),
      catch: () => unreadable("Decoding a reference image failed.")
    })
    return shrunk.toString("base64")
  })

  return (
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
      ({ image, place }) => permits.withPermits(1)(shrink(image, place))
    )
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const unreadable = (message: string) =>
  new GeneratorError.GeneratorError({
    reason: new GeneratorError.Permanent({ code: "invalid_input", reason: null, message })
  })
