/** Processor time and memory of whole jobs that render, compared with only the encoding of ready pixels. */
import * as DefaultModels from "@kinora/catalog/DefaultModels"
import { createH264Encoder, h264Settings } from "@kinora/generator-procedural/ClipEncoding"
import { Effect } from "effect"
import sharp from "sharp"
import { attempt, type Benchmark, type Contestant, type Environment } from "./Benchmark.ts"
import * as Callers from "./Callers.ts"
import * as KinoraJobs from "./KinoraJobs.ts"
import * as KinoraServer from "./KinoraServer.ts"

/** Duration of a video. */
const videoSeconds = 4
const frameRate = 24

/** All benchmarks of media. */
export const benchmarks: ReadonlyArray<Benchmark> = [
  imageBenchmark("media-image", "An image of 1024 x 1024 pixels from text, with preview and thumbnail", () => ({})),
  imageBenchmark("media-edit", "An image of 1024 x 1024 pixels from an image", (picture) => ({
    images: [{ data: picture.toString("base64") }]
  })),
  videoBenchmark("media-480p", "480p", 854, 480),
  videoBenchmark("media-720p", "720p", 1280, 720)
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** One prompt per round of images paints each of these, because scenes differ in cost. */
const prompts = [
  "a lake at dawn, mist between the hills",
  "a nebula with a ringed planet",
  "a city at night in the rain",
  "flowers in a meadow",
  "flowing silk ribbons",
  "geometric shapes, bauhaus"
]

interface Work {
  readonly model: string
  readonly jobs: ReadonlyArray<Readonly<Record<string, unknown>>>
}

function imageBenchmark(
  name: string,
  title: string,
  extra: (picture: Buffer) => Readonly<Record<string, unknown>>
): Benchmark {
  return benchmarkOf(name, title, (picture) => ({
    work: {
      model: DefaultModels.still.id,
      jobs: prompts.map((prompt) => ({ prompt, aspect_ratio: "1:1", ...extra(picture) }))
    },
    peer: encodedBy("sharp on ready pixels", async () => {
      const raw = await sharp(picture).removeAlpha().raw().toBuffer()
      return async () => {
        const png = await sharp(raw, { raw: { width: 1024, height: 1024, channels: 3 } })
          .png({ compressionLevel: 4 })
          .toBuffer()
        for (const side of [1024, 256]) {
          await sharp(png).resize(side, side).webp({ quality: 80, effort: 2 }).toBuffer()
        }
      }
    })
  }))
}

function videoBenchmark(name: string, resolution: string, width: number, height: number): Benchmark {
  return benchmarkOf(name, `A video of ${videoSeconds} s and ${resolution} from text, with its poster`, (picture) => ({
    work: {
      model: DefaultModels.motion.id,
      jobs: prompts.slice(0, 1).map((prompt) => ({ prompt, resolution, duration: videoSeconds, aspect_ratio: "16:9" }))
    },
    peer: encodedBy("h264-mp4-encoder on ready frames", async () => {
      const frames = await panned(picture, width, height)
      return () => encode(frames, width, height)
    })
  }))
}

function benchmarkOf(
  name: string,
  title: string,
  contestants: (picture: Buffer) => { readonly work: Work; readonly peer: Contestant }
): Benchmark {
  return {
    name,
    title,
    compares: "cpuSeconds",
    contestants: Effect.fnUntraced(function*(environment: Environment) {
      const server = yield* KinoraServer.makeMeasured(environment, {
        workers: 1,
        models: [DefaultModels.still, DefaultModels.motion],
        drivers: {
          procedural: { module: "@kinora/generator-procedural/ProceduralDriver", options: { encoder: "wasm" } }
        }
      })
      const { work, peer } = contestants(yield* attempt("The picture could not be painted", painted))
      return [{ name: "kinora", round: jobsOf(server, work) }, peer]
    })
  }
}

/** Runs the jobs one after the other. */
const jobsOf = Effect.fnUntraced(function*(server: KinoraServer.MeasuredKinoraServer, { jobs, model }: Work) {
  const { awaitEnd, create } = yield* KinoraJobs.make(server)
  const began = Callers.now()
  const before = yield* server.measure
  for (const params of jobs) yield* awaitEnd((yield* create(model, params)).id)
  const after = yield* server.measure
  return {
    perSecond: jobs.length * 1000 / (Callers.now() - began),
    cpuSeconds: (after.cpuSeconds - before.cpuSeconds) / jobs.length,
    peakMebibytes: after.peakMebibytes
  }
})

/** Encodes in this process, which does nothing else meanwhile. Preparing the pixels does not count. */
const encodedBy = (name: string, prepare: () => Promise<() => Promise<void>>): Contestant => ({
  name,
  round: attempt(`${name} failed`, async () => {
    const encode = await prepare()
    const began = Callers.now()
    const before = process.cpuUsage()
    await encode()
    const { system, user } = process.cpuUsage(before)
    return { perSecond: 1000 / (Callers.now() - began), cpuSeconds: (user + system) / 1e6 }
  })
})

/** A photo-like picture: smooth colours with grain. */
const painted = () =>
  sharp({
    create: {
      width: 1024,
      height: 1024,
      channels: 3,
      background: "#46698c",
      noise: { type: "gaussian", mean: 128, sigma: 60 }
    }
  }).blur(6).png().toBuffer()

/** Frames of a camera that moves one pixel per frame, four bytes per pixel. */
const panned = async (picture: Buffer, width: number, height: number): Promise<ReadonlyArray<Uint8Array>> => {
  const count = videoSeconds * frameRate
  const wide = await sharp(picture).resize(width + count, height, { fit: "fill" }).png().toBuffer()
  const frames: Array<Uint8Array> = []
  for (let left = 0; left < count; left++) {
    frames.push(await sharp(wide).extract({ left, top: 0, width, height }).ensureAlpha().raw().toBuffer())
  }
  return frames
}

/** With the settings of `generator-procedural`. */
const encode = async (frames: ReadonlyArray<Uint8Array>, width: number, height: number): Promise<void> => {
  const encoder = await createH264Encoder()
  Object.assign(encoder, h264Settings({ width, height, frameRate }))
  encoder.initialize()
  for (const frame of frames) {
    encoder.addFrameRgba(frame)
    // The memory of a frame is freed in a turn of the event loop.
    await new Promise((resolve) => void setImmediate(resolve))
  }
  encoder.finalize()
  encoder.delete()
}
