/**
 * Writes the gallery, a sheet of pictures and frames of videos: `npm run gallery`. The same
 * build writes the same bytes, so a changed file shows a change of the drawings.
 */
import { Generator } from "@kinora/generator"
import type { InputImage } from "@kinora/generator/GenerationRequest"
import { Console, Effect, Stream } from "effect"
import { writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import sharp from "sharp"
import * as ClipSize from "../../src/ClipSize.ts"
import { framesOf } from "../../src/internal/clip/clip.ts"
import * as References from "../../src/internal/References.ts"
import * as PictureSize from "../../src/PictureSize.ts"
import * as ProceduralGenerator from "../../src/ProceduralGenerator.ts"
import { type Clip, clips, type Still, stills } from "./prompts.ts"
import { type Cell, drawSheet } from "./sheet.ts"

const standard = fileURLToPath(new URL("../../../../docs/images/gallery.webp", import.meta.url))

const { values: { help, output } } = parseArgs({
  options: { help: { type: "boolean", short: "h", default: false }, output: { type: "string", default: standard } }
})

const usage = `npm run gallery -- [--output FILE]

Paints ${stills.length} pictures and frames of ${clips.length} videos on one sheet.

  --output FILE  where the sheet is written, as WebP. Default: ${standard}
  --help         this text`

/** Pictures per row. */
const rowLengths = [5, 5, 5, 5, 4]
const clipsPerRow = 2

/** Duration of the videos, and the times of the frames that are shown, in seconds. */
const seconds = 8
const times = [0, 4, 7.9]

const total = stills.length + clips.length

const report = (number: number, prompt: string) =>
  Effect.sync(() => void process.stderr.write(`${number} of ${total}: ${prompt}\n`))

const imageOf = (file: Buffer, { height, width }: PictureSize.PictureSize): InputImage => ({
  mime: "image/png",
  width,
  height,
  bytes: file.length,
  body: Stream.succeed(file)
})

/** A finished picture. */
interface Painted {
  readonly cell: Cell
  readonly image: InputImage
}

const paintStill = Effect.fnUntraced(
  function*({ aspectRatio, prompt, references = [], seed }: Still, before: ReadonlyArray<Painted>) {
    const generator = yield* Generator.Generator
    const operation = yield* generator.submit({
      id: String(seed),
      model: { name: "procedural", options: {} },
      kind: "image",
      mode: references.length === 0 ? "text_to_image" : "image_to_image",
      prompt,
      params: { aspect_ratio: aspectRatio },
      images: references.map((index) => before[index]!.image),
      seed,
      format: "png"
    })
    const picture = yield* generator.collect(operation)
    const file = Buffer.from(yield* Stream.mkUint8Array(picture.body))
    const size = PictureSize.of(aspectRatio, "1k")
    const caption = references.length === 0 ? prompt : `${prompt} (${numbersOf(references)})`
    const painted: Painted = {
      cell: { caption, aspect: size.width / size.height, files: [file] },
      image: imageOf(file, size)
    }
    return painted
  },
  Effect.scoped
)

const numbersOf = (references: ReadonlyArray<number>) =>
  `from “${references.map((index) => stills[index]!.prompt).join("” and “")}”`

const paintClip = Effect.fnUntraced(function*(clip: Clip, painted: ReadonlyArray<Painted>) {
  const { aspectRatio, prompt, reference, seed } = clip
  const size = ClipSize.of(aspectRatio, "480p")
  const { frame } = References.make({ bytesMax: Infinity })
  const references = reference === undefined ? [] : [yield* frame(painted[reference]!.image, size.width, size.height)]
  const files = yield* Effect.promise(async () => {
    const frames = await framesOf({ prompt, key: `seed ${seed}`, ...size, seconds, references })
    const encoded: Array<Buffer> = []
    for (const time of times) {
      encoded.push(await sharp(frames(time), { raw: { ...size, channels: 4 } }).png().toBuffer())
    }
    return encoded
  })
  const caption = reference === undefined ? prompt : `${prompt} (${numbersOf([reference])})`
  const cell: Cell = { caption, aspect: times.length * size.width / size.height, files }
  return cell
})

const program = Effect.gen(function*() {
  const painted: Array<Painted> = []
  for (const still of stills) {
    yield* report(painted.length + 1, still.prompt)
    painted.push(yield* paintStill(still, painted))
  }
  const videos: Array<Cell> = []
  for (const clip of clips) {
    yield* report(stills.length + videos.length + 1, clip.prompt)
    videos.push(yield* paintClip(clip, painted))
  }
  const cells = painted.map(({ cell }) => cell)
  const rows = rowLengths.map((length) => cells.splice(0, length))
  while (videos.length > 0) rows.push(videos.splice(0, clipsPerRow))
  const { height, rgba, width } = yield* Effect.promise(() => drawSheet(rows))
  const file = yield* Effect.promise(() =>
    sharp(rgba, { raw: { width, height, channels: 4 } }).removeAlpha().webp({ quality: 86 }).toBuffer()
  )
  yield* Effect.promise(() => writeFile(output, file))
  yield* Console.log(`${output}: ${width} by ${height} pixels, ${Math.round(file.length / 1024)} KiB`)
})

const gallery = Effect.scoped(Effect.provide(program, ProceduralGenerator.layer({ threads: 1 })))

await Effect.runPromise(help ? Console.log(usage) : gallery)
