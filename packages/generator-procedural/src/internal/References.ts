/** Makes of input images what is kept of them while they are painted after: little, and enough for that. */
import { GeneratorError } from "@kinora/generator"
import type { InputImage } from "@kinora/generator/GenerationRequest"
import { Effect, Semaphore, Stream } from "effect"
import sharp from "sharp"
import { gridOf, type Place, placeOf, regionsOf } from "./painting/layout.ts"

/** Limits of what is read. */
export interface ReferencesOptions {
  /** The longest file, in bytes. */
  readonly bytesMax: number
}

/** Images that are read at the same time. Each has a file and a decoder in memory. */
const concurrency = 2

/** Whole seconds that one image may take. */
const secondsMax = 30

/** The most pixels that are decoded. */
const pixelsMax = 100_000_000

/**
 * Builds the function that shrinks references, one after the other, to what a
 * picture of these sides shows of each: about 400 pixels across in all. Answers
 * with WebP files in base64, the same for the same images.
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
      catch: () => unreadable("A reference image could not be read.")
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
