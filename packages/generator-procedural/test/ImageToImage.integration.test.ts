import { assert, it, layer } from "@effect/vitest"
import { type GenerationRequest, Generator, GeneratorError } from "@kinora/generator"
import type { InputImage } from "@kinora/generator/GenerationRequest"
import { Context, Effect, Layer, type Schema, Stream } from "effect"
import sharp, { type Sharp } from "sharp"
import * as PictureSize from "../src/PictureSize.ts"
import { collected, layerSmall, made, request, scripted, sha256 } from "./Requests.ts"

/** A file as an input image. */
const imageOf = (mime: InputImage["mime"], file: Buffer, reads = { count: 0 }): Effect.Effect<InputImage> =>
  Effect.map(Effect.promise(() => sharp(file).metadata()), ({ height, width }) => ({
    mime,
    width,
    height,
    bytes: file.length,
    body: Stream.suspend(() => {
      reads.count += 1
      return Stream.fromIterable([file.subarray(0, 100), file.subarray(100)])
    })
  }))

const image = (source: Sharp) =>
  Effect.flatMap(Effect.promise(() => source.png().toBuffer()), (file) => imageOf("image/png", file))

/** A picture of light and dark in places that tell its parts apart: a disc on a gradient. */
const disc = (x: number, y: number, width = 400, height = 400) => {
  const pixels = Buffer.alloc(width * height)
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const inside = Math.hypot(column - x * width, row - y * height) < 0.2 * Math.min(width, height)
      pixels[row * width + column] = inside ? 235 : 30 + 90 * row / height
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 1 } }).toColourspace("srgb")
}

const asked = (
  id: string,
  images: ReadonlyArray<InputImage>,
  rest: Partial<GenerationRequest.GenerationRequest> = {}
) => request(id, { mode: "image_to_image", prompt: "red", images, ...rest })

/** Light on a grid of 12 by 12 over a part of the picture. */
const lightsOf = (source: Sharp, part?: { readonly left: number; readonly width: number; readonly height: number }) =>
  Effect.promise(() =>
    (part === undefined ? source : source.extract({ top: 0, ...part }))
      .resize(12, 12, { fit: "fill" }).greyscale().raw().toBuffer()
  )

/** From -1 to 1: how much two pictures are light and dark in the same places. */
const correlation = (a: Uint8Array, b: Uint8Array): number => {
  const mean = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0) / values.length
  const centred = (values: Uint8Array) => Array.from(values, (value) => value - mean([...values]))
  const [x, y] = [centred(a), centred(b)]
  const product = mean(x.map((value, index) => value * y[index]!))
  return product / Math.sqrt(mean(x.map((value) => value ** 2)) * mean(y.map((value) => value ** 2)))
}

/** Painting keeps threads busy, and other tests run beside. */
const drawingTimeout = 120_000

layer(layerSmall, { excludeTestServices: true, timeout: "60 seconds" })(
  "ProceduralGenerator with references",
  (it) => {
    it.effect(
      "paints the content of the reference in every aspect ratio",
      () =>
        Effect.forEach(["1:1", "16:9", "9:16"] as const, (aspect_ratio) =>
          Effect.gen(function*() {
            const { height, width } = PictureSize.of(aspect_ratio, "1k")
            const source = disc(0.3, 0.35, width >> 1, height >> 1)
            const images = [yield* image(source.clone())]
            const picture = yield* made(asked(`composition ${aspect_ratio}`, images, { params: { aspect_ratio } }))
            assert.deepInclude(picture, { width, height })
            const [found, expected] = [yield* lightsOf(sharp(picture.bytes)), yield* lightsOf(source)]
            assert.isAbove(correlation(found, expected), 0.9)
          }), { discard: true }),
      drawingTimeout
    )

    it.effect("uses the colours of the prompt", () =>
      Effect.gen(function*() {
        const images = [yield* image(disc(0.5, 0.5))]
        const warmth = Effect.fnUntraced(function*(prompt: string) {
          const { bytes } = yield* made(asked(`colours ${prompt}`, images, { prompt }))
          const { channels: [red, , blue] } = yield* Effect.promise(() => sharp(bytes).stats())
          return red!.mean - blue!.mean
        })
        assert.isAbove(yield* warmth("crimson"), 15)
        assert.isBelow(yield* warmth("azure"), -15)
      }), drawingTimeout)

    it.effect("paints each of several references in its own region", () =>
      Effect.gen(function*() {
        const [left, right] = [disc(0.5, 0.3, 500, 600), disc(0.5, 0.75, 500, 600)]
        const images = [yield* image(left.clone()), yield* image(right.clone())]
        const { bytes } = yield* made(asked("two", images, { params: { aspect_ratio: "3:2" } }))
        const { height, width } = yield* Effect.promise(() => sharp(bytes).metadata())
        const half = { width: width >> 1, height }
        const lights = {
          left: yield* lightsOf(sharp(bytes), { left: 0, ...half }),
          right: yield* lightsOf(sharp(bytes), { left: width >> 1, ...half })
        }
        const expected = { left: yield* lightsOf(left), right: yield* lightsOf(right) }
        assert.isAbove(correlation(lights.left, expected.left), correlation(lights.left, expected.right) + 0.4)
        assert.isAbove(correlation(lights.right, expected.right), correlation(lights.right, expected.left) + 0.4)
      }), drawingTimeout)

    it.effect("paints from three and four references of any shape", () =>
      Effect.gen(function*() {
        const shapes = [
          yield* image(disc(0.5, 0.5, 1, 1)),
          yield* image(disc(0.5, 0.5, 640, 80)),
          yield* image(disc(0.5, 0.5, 80, 640)),
          yield* image(disc(0.5, 0.5).toColourspace("b-w"))
        ]
        for (const [count, aspect_ratio] of [[3, "16:9"], [4, "9:16"]] as const) {
          const picture = yield* made(asked(`${count}`, shapes.slice(0, count), { params: { aspect_ratio } }))
          assert.deepInclude(picture, PictureSize.of(aspect_ratio, "1k"))
        }
      }), drawingTimeout)

    it.effect(
      "paints different bytes for another seed, reference or number of references",
      () =>
        Effect.gen(function*() {
          const [one, other] = [[yield* image(disc(0.3, 0.3))], [yield* image(disc(0.7, 0.7))]]
          const hashOf = (id: string, images: ReadonlyArray<InputImage>, seed: number) =>
            Effect.map(made(asked(id, images, { seed })), ({ bytes }) => sha256(bytes))
          const hashes = [
            yield* hashOf("first", one, 7),
            yield* hashOf("seed", one, 8),
            yield* hashOf("reference", other, 7),
            yield* hashOf("more", [...other, ...one], 7)
          ]
          assert.strictEqual(new Set(hashes).size, 4)
        }),
      drawingTimeout
    )

    it.effect(
      "fails with Lost in another process, and draws the same picture for the same seed, prompt and reference there",
      () =>
        Effect.gen(function*() {
          const elsewhere = Context.get(yield* Layer.build(Layer.fresh(layerSmall)), Generator.Generator)
          const here = yield* Generator.Generator
          const file = yield* Effect.promise(() => disc(0.4, 0.4).webp().toBuffer())
          const images = [yield* imageOf("image/webp", file)]
          const operation = yield* elsewhere.submit(asked("crash", images, { seed: 7 }))
          assert.strictEqual((yield* Effect.flip(here.poll(operation))).reason._tag, "Lost")
          assert.strictEqual((yield* Effect.flip(here.collect(operation))).reason._tag, "Lost")
          const picture = yield* made(asked("again", images, { seed: 7 }))
          assert.strictEqual(sha256(picture.bytes), sha256((yield* collected(elsewhere, operation)).bytes))
        }).pipe(Effect.scoped),
      drawingTimeout
    )
  }
)

it.effect("stores nothing of the references in its operation", () =>
  Effect.gen(function*() {
    const generator = yield* scripted()
    const [one, other] = [yield* image(disc(0.2, 0.5)), yield* image(disc(0.8, 0.5))]
    const operation = yield* generator.submit(asked("same", [one]))
    const elsewhere = yield* scripted()
    assert.deepStrictEqual(yield* elsewhere.submit(asked("same", [other])), operation)
  }).pipe(Effect.scoped))

it.effect("paints an operation of a version without references", () =>
  Effect.gen(function*() {
    const generator = yield* scripted()
    const operation = yield* generator.submit(request("old"))
    const { references: _, ...old } = operation as Readonly<Record<string, Schema.Json>>
    assert.strictEqual((yield* generator.poll(old))._tag, "Succeeded")
  }).pipe(Effect.scoped))

it.effect("rejects unusable references with a message", () =>
  Effect.gen(function*() {
    const generator = yield* scripted({ referenceBytesMax: 100_000 })
    const good = yield* image(disc(0.5, 0.5))
    const cut = { ...good, body: Stream.map(Stream.take(good.body, 1), (part) => part) }
    const refusals = [
      request("text with an image", { images: [good] }),
      asked("none", []),
      asked("five", [good, good, good, good, good]),
      asked("cut", [cut]),
      asked("large", [{ ...good, bytes: 100_001 }])
    ]
    for (const refused of refusals) {
      const { reason } = yield* Effect.flip(generator.submit(refused))
      assert.deepInclude(reason, { _tag: "Permanent", code: "invalid_input" }, refused.id)
    }
  }).pipe(Effect.scoped))

it.effect("fails a submission with the failure of the body of an image", () =>
  Effect.gen(function*() {
    const generator = yield* scripted()
    const good = yield* image(disc(0.5, 0.5))
    const away = new GeneratorError.GeneratorError({ reason: new GeneratorError.Transient({}) })
    const error = yield* Effect.flip(generator.submit(asked("a", [{ ...good, body: Stream.fail(away) }])))
    assert.deepStrictEqual(error, away)
    assert.strictEqual((yield* Effect.flatMap(generator.submit(asked("a", [good])), generator.poll))._tag, "Succeeded")
  }).pipe(Effect.scoped))

it.effect("reads no image while its queue is full", () =>
  Effect.gen(function*() {
    const generator = yield* scripted({ draw: () => Effect.never, queueMax: 1 })
    yield* generator.submit(request("first"))
    const reads = { count: 0 }
    const file = yield* Effect.promise(() => disc(0.5, 0.5).png().toBuffer())
    const error = yield* Effect.flip(generator.submit(asked("second", [yield* imageOf("image/png", file, reads)])))
    assert.isTrue(error.isRetryable)
    assert.strictEqual(reads.count, 0)
  }).pipe(Effect.scoped))
