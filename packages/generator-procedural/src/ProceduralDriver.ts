/** The procedural generator as a driver. */
import { Driver } from "@kinora/generator"
import { type ServedModel, type Supported, unsupported } from "@kinora/generator/ServedModel"
import { Schema } from "effect"
import * as ClipSize from "./ClipSize.ts"
import * as PictureSize from "./PictureSize.ts"
import * as ProceduralGenerator from "./ProceduralGenerator.ts"

const count = (minimum: number, maximum: number) =>
  Schema.optionalKey(Schema.Int.check(
    Schema.isBetween({ minimum, maximum }, { expected: `a whole number from ${minimum} to ${maximum}` })
  ))

const duration = Schema.optionalKey(Schema.DurationFromString)

/** Schema of the options of the driver. See `ProceduralGeneratorOptions` for defaults. */
export const Options = Schema.Struct({
  /** Maximum number of drawings at the same time. */
  threads: count(1, 64),
  /** Maximum number of pictures that are drawn or wait for a thread. */
  queue_max: count(1, 10_000),
  /** Maximum number of finished pictures that wait to be collected. */
  finished_max: count(0, 1_000),
  /** Encoder of videos. */
  encoder: Schema.optionalKey(Schema.Literals(["auto", "wasm", "ffmpeg"])),
  /** Enables the load mode, for drills. See `LoadOptions`. */
  load: Schema.optionalKey(Schema.Struct({
    latency_median: duration,
    latency_p95: duration,
    latency_max: duration,
    failure_rate: Schema.optionalKey(Schema.Finite.check(
      Schema.isBetween({ minimum: 0, maximum: 1 }, { expected: "a number from 0 to 1" })
    ))
  }))
})

/** The driver. */
export default Driver.make({
  options: Options,
  check: (model) => unsupported(model, model.kind === "video" ? clipsOf(model) : pictures),
  layer: ({ encoder, finished_max: finishedMax, load, queue_max: queueMax, threads }) =>
    ProceduralGenerator.layer({
      threads,
      queueMax,
      finishedMax,
      encoder,
      load: load && {
        latencyMedian: load.latency_median,
        latencyP95: load.latency_p95,
        latencyMax: load.latency_max,
        failureRate: load.failure_rate
      }
    })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pictures: Supported = {
  imagesMax: ProceduralGenerator.referencesMax,
  outputFormats: ["image/png", "image/jpeg", "image/webp"],
  params: { aspect_ratio: PictureSize.aspectRatios, resolution: PictureSize.resolutions }
}

const durations = Array.from(
  { length: ClipSize.secondsMax - ClipSize.secondsMin + 1 },
  (_, index) => ClipSize.secondsMin + index
)

/** A model lists its durations, or gives a range of them. */
const clipsOf = ({ params_schema }: ServedModel): Supported => {
  const { max = Infinity, min = 0, values } = params_schema.find(({ name }) => name === "duration") ?? {}
  const inRange = values === undefined && min >= ClipSize.secondsMin && max <= ClipSize.secondsMax
  return {
    imagesMax: 1,
    outputFormats: ["video/mp4"],
    params: {
      aspect_ratio: ClipSize.aspectRatios,
      resolution: ClipSize.resolutions,
      duration: inRange ? "any" : durations
    }
  }
}
