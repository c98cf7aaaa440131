/** The procedural generator as a driver. */
import { Driver } from "@kinora/generator"
import { Schema } from "effect"
import * as PictureSize from "./PictureSize.ts"
import * as ProceduralGenerator from "./ProceduralGenerator.ts"

const count = (minimum: number, maximum: number) =>
  Schema.optionalKey(Schema.Int.check(
    Schema.isBetween({ minimum, maximum }, { expected: `a whole number from ${minimum} to ${maximum}` })
  ))

/** Schema of the options of the driver. See `ProceduralGeneratorOptions` for defaults. */
export const Options = Schema.Struct({
  /** Maximum number of pictures that are drawn at the same time. */
  threads: count(1, 64),
  /** Maximum number of pictures that are drawn or wait for a thread. */
  queue_max: count(1, 10_000),
  /** Maximum number of finished pictures that wait to be collected. */
  finished_max: count(0, 1_000)
})

/** The driver. */
export default Driver.make({
  options: Options,
  supports: {
    modes: ProceduralGenerator.modes,
    imagesMax: ProceduralGenerator.referencesMax,
    outputFormats: ["image/png", "image/jpeg", "image/webp"],
    params: { aspect_ratio: PictureSize.aspectRatios, resolution: PictureSize.resolutions }
  },
  layer: ({ finished_max: finishedMax, queue_max: queueMax, threads }) =>
    ProceduralGenerator.layer({ threads, queueMax, finishedMax })
})
