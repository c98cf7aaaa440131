/**
 * Load mode: a drawing of each shape is drawn once and sent for every request of that
 * shape, made unique, after a random time. It loads a service without loading its
 * processors.
 */
import { Cache, Duration, Effect } from "effect"
import { crc32 } from "node:zlib"
import { Chance } from "./chance.ts"
import { type DrawingPool, type Drawn, NotDrawn } from "./DrawingPool.ts"
import type { Drawing } from "./picture.ts"

/** Options of the load mode. Times and failures follow from the prompt and the seed, or the id, of a request. */
export interface LoadOptions {
  /** Time that half of the drawings take at most. Default 1 second. */
  readonly latencyMedian?: Duration.Input | undefined
  /** Time that 95 % of the drawings take at most; the others take longer. Default: three times the median. */
  readonly latencyP95?: Duration.Input | undefined
  /** Maximum time of a drawing. Default 10 minutes. */
  readonly latencyMax?: Duration.Input | undefined
  /** Share of the drawings that fail, from 0 to 1. Default 0. */
  readonly failureRate?: number | undefined
  /** Maximum number of shapes whose drawings are kept. Default 32. */
  readonly shapesMax?: number | undefined
}

/** Wraps a pool that draws. Latencies have a log-normal distribution. */
export const make = Effect.fnUntraced(function*(pool: DrawingPool, options: LoadOptions) {
  const median = Duration.toMillis(options.latencyMedian ?? "1 second")
  const p95 = Duration.toMillis(options.latencyP95 ?? median * 3)
  const latencyMax = Duration.toMillis(options.latencyMax ?? "10 minutes")
  const { failureRate = 0, shapesMax = 32 } = options
  // 1.645 deviations above the mean of a normal distribution are 95 % of it.
  const spread = Math.log(Math.max(p95, median) / Math.max(1, median)) / 1.645

  const samples = yield* Cache.make({
    capacity: shapesMax,
    lookup: (shape: string) => pool.draw(JSON.parse(shape) as Drawing)
  })

  const loaded: DrawingPool = {
    draw: Effect.fnUntraced(function*(drawing) {
      const id = `${drawing.key}|${drawing.prompt}`
      const chance = new Chance(`load|${id}`)
      const latency = Math.min(latencyMax, median * Math.exp(spread * chance.normal()))
      const fails = chance.happens(failureRate)
      const { height, seconds, width } = drawing
      const sample = { prompt: "load", key: "load", width, height, format: drawing.format, seconds, references: [] }
      const drawn = yield* Cache.get(samples, JSON.stringify(sample satisfies Drawing))
      yield* Effect.sleep(Duration.millis(latency))
      if (fails) return yield* new NotDrawn({ message: "The load mode makes this drawing fail" })
      return { ...drawn, bytes: unique(drawn.bytes, drawing.format, Buffer.from(id)) } satisfies Drawn
    })
  }
  return loaded
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Adds a comment to a file, which then is another valid file with the same content. */
const unique = (file: Uint8Array, format: Drawing["format"], text: Buffer): Uint8Array => {
  switch (format) {
    case "png":
      return Buffer.concat([file.subarray(0, -pngEnd), pngComment(text), file.subarray(-pngEnd)])
    case "jpeg":
      return Buffer.concat([file.subarray(0, 2), jpegComment(text), file.subarray(2)])
    case "webp":
      return withWebpComment(file, text)
    case "mp4":
      return Buffer.concat([file, sized("BE", 8 + text.length), Buffer.from("free"), text])
  }
}

/** Length of the chunk that ends a PNG file. */
const pngEnd = 12

/** Length that the comment of a JPEG file can have. */
const jpegCommentMax = 65_000

const pngComment = (text: Buffer): Buffer => {
  const content = Buffer.concat([Buffer.from("tEXtComment\0"), text])
  return Buffer.concat([sized("BE", content.length - 4), content, sized("BE", crc32(content))])
}

const jpegComment = (text: Buffer): Buffer => {
  const content = text.subarray(0, jpegCommentMax)
  const header = Buffer.from([0xff, 0xfe, 0, 0])
  header.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([header, content])
}

/** An unknown chunk at the end, which decoders skip. Chunks have even lengths. */
const withWebpComment = (file: Uint8Array, text: Buffer): Buffer => {
  const padded = Buffer.concat([text, Buffer.alloc(text.length % 2)])
  const grown = Buffer.concat([file, Buffer.from("KNRA"), sized("LE", text.length), padded])
  grown.writeUInt32LE(grown.length - 8, 4)
  return grown
}

const sized = (order: "BE" | "LE", size: number): Buffer => {
  const bytes = Buffer.alloc(4)
  if (order === "BE") bytes.writeUInt32BE(size)
  else bytes.writeUInt32LE(size)
  return bytes
}
