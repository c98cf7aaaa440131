import { assert, it, layer } from "@effect/vitest"
import { type GenerationRequest, Generator, GeneratorError } from "@kinora/generator"
import { Context, Deferred, Duration, Effect, Fiber, Layer, type Schema } from "effect"
import { TestClock } from "effect/testing"
import sharp from "sharp"
import * as DrawingPool from "../src/internal/DrawingPool.ts"
import { type Drawing, paint } from "../src/internal/picture.ts"
import * as PictureSize from "../src/PictureSize.ts"
import * as ProceduralGenerator from "../src/ProceduralGenerator.ts"
import { blank, collected, layerSmall, made, request, scripted, sha256 } from "./Requests.ts"

const prompts = {
  landscape: "mountains at sunset",
  cosmos: "a planet in a nebula",
  city: "city at night",
  bloom: "pink flowers",
  flow: "abstract silk swirl",
  geometry: "bauhaus pattern"
} as const
const scenes = Object.entries(prompts)
const video = { kind: "video", mode: "text_to_video", format: "mp4" } as const
const formats = ["png", "jpeg", "webp"] as const

// Drawing takes real time, so polls wait in real time here.
layer(ProceduralGenerator.layer({ threads: 2 }), { excludeTestServices: true, timeout: "60 seconds" })(
  "ProceduralGenerator",
  (it) => {
    it.effect("makes files of the right size and format in every aspect ratio", () =>
      Effect.forEach(PictureSize.aspectRatios, (aspect_ratio, index) =>
        Effect.gen(function*() {
          const format = formats[index % 3] ?? "png"
          const picture = yield* made(
            request(aspect_ratio, { prompt: prompts.geometry, params: { aspect_ratio }, format })
          )
          const size = PictureSize.of(aspect_ratio, "1k")
          assert.strictEqual(picture.mime, `image/${format}`)
          assert.deepInclude(picture, size)
          const facts = yield* Effect.promise(() => sharp(picture.bytes, { failOn: "error" }).metadata())
          assert.deepInclude(facts, { ...size, format })
        }), { discard: true }))

    it.effect("paints four megapixels", () =>
      Effect.gen(function*() {
        const params = { aspect_ratio: "16:9", resolution: "2k" }
        const picture = yield* made(request("2k", { prompt: prompts.geometry, params }))
        const facts = yield* Effect.promise(() => sharp(picture.bytes).metadata())
        assert.deepInclude(facts, { width: 2688, height: 1536 })
      }))

    it.effect("paints one megapixel square by default", () =>
      Effect.gen(function*() {
        assert.deepInclude(yield* made(request("defaults", { prompt: prompts.geometry })), {
          width: 1024,
          height: 1024
        })
      }))
  }
)

layer(layerSmall, { excludeTestServices: true, timeout: "60 seconds" })(
  "ProceduralGenerator with small pictures",
  (it) => {
    it.effect("paints variants for different ids, and the same picture for the same seed", () =>
      Effect.gen(function*() {
        const hashOf = (id: string, rest: Partial<GenerationRequest.GenerationRequest> = {}) =>
          Effect.map(made(request(id, { prompt: "bauhaus", ...rest })), ({ bytes }) => sha256(bytes))
        assert.notStrictEqual(yield* hashOf("first"), yield* hashOf("second"))
        const seeded = yield* hashOf("first", { seed: 7 })
        assert.strictEqual(yield* hashOf("second", { seed: 7 }), seeded)
        assert.notStrictEqual(yield* hashOf("first", { seed: 8 }), seeded)
      }))

    it.effect("draws an operation again that another process submitted", () =>
      Effect.gen(function*() {
        const elsewhere = Context.get(yield* Layer.build(Layer.fresh(layerSmall)), Generator.Generator)
        const operation = JSON.parse(
          JSON.stringify(yield* elsewhere.submit(request("left", { prompt: prompts.geometry })))
        ) as Schema.Json
        const here = yield* Generator.Generator
        assert.include(["Pending", "Succeeded"], (yield* here.poll(operation))._tag)
        const picture = yield* collected(here, operation)
        assert.strictEqual(sha256(picture.bytes), sha256((yield* collected(elsewhere, operation)).bytes))
      }).pipe(Effect.scoped))

    it.effect("collects a picture again that was collected before", () =>
      Effect.gen(function*() {
        const generator = yield* Generator.Generator
        const operation = yield* generator.submit(request("twice", { prompt: prompts.geometry }))
        const first = yield* collected(generator, operation)
        assert.strictEqual(sha256(first.bytes), sha256((yield* collected(generator, operation)).bytes))
      }))

    it.effect("states in the file that no AI model made it", () =>
      Effect.gen(function*() {
        const picture = yield* made(request("honest", { prompt: prompts.geometry, format: "jpeg" }))
        assert.isTrue(picture.bytes.includes("Kinora procedural generator, no AI model"))
      }))
  }
)

for (const [scene, prompt] of scenes) {
  it.effect(`paints a ${scene} in squares and in the widest and tallest pictures`, () =>
    Effect.forEach(["1:1", "16:9", "9:16"] as const, (aspect_ratio) => {
      const { height, width } = eighth(PictureSize.of(aspect_ratio, "1k"))
      const pixels = paint({ prompt, key: aspect_ratio, width, height, format: "png", references: [] })
      return assertNotBlank(pixels, width, height)
    }, { discard: true }))
}

it.effect("paints the same bytes for the same drawing on other threads", () =>
  Effect.gen(function*() {
    const [here, there] = [yield* DrawingPool.make({ threads: 1 }), yield* DrawingPool.make({ threads: 1 })]
    for (const [, prompt] of scenes) {
      const drawing = {
        prompt,
        key: "same",
        width: 128,
        height: 96,
        format: "png",
        seconds: null,
        references: []
      } as const
      assert.strictEqual(sha256((yield* here.draw(drawing)).bytes), sha256((yield* there.draw(drawing)).bytes))
    }
  }).pipe(Effect.scoped))

it.effect("rejects unsupported requests with a message", () =>
  Effect.gen(function*() {
    const generator = yield* scripted()
    const refusals: ReadonlyArray<Partial<GenerationRequest.GenerationRequest>> = [
      { kind: "video", mode: "text_to_video", format: "webm" },
      { kind: "video", mode: "text_to_image", format: "mp4" },
      { kind: "video", mode: "image_to_video", format: "mp4" },
      ...[1, 11, 2.5, "4"].map((duration) => ({ ...video, params: { duration } })),
      ...[{ resolution: "1k" }, { aspect_ratio: "21:9" }].map((params) => ({ ...video, params })),
      { mode: "image_to_image" },
      { format: "mp4" },
      { params: { aspect_ratio: "5:1" } },
      { params: { resolution: "64k" } },
      { prompt: "a".repeat(20_001) }
    ]
    for (const refused of refusals) {
      const { reason } = yield* Effect.flip(generator.submit(request("refused", refused)))
      assert.deepInclude(reason, { _tag: "Permanent", code: "invalid_input" })
    }
  }).pipe(Effect.scoped))

it.effect("returns Failed for a foreign or invalid operation", () =>
  Effect.gen(function*() {
    const generator = yield* scripted()
    const operation = yield* generator.submit(request("a"))
    const huge = JSON.parse(JSON.stringify(operation).replace("1024", "1000000")) as Schema.Json
    for (const foreign of [null, { id: "x" }, huge]) {
      assert.strictEqual((yield* generator.poll(foreign))._tag, "Failed")
      assert.strictEqual((yield* Effect.flip(collected(generator, foreign))).reason._tag, "Permanent")
      yield* generator.cancel(foreign)
    }
  }).pipe(Effect.scoped))

it.effect("fails with Transient when its queue is full", () =>
  Effect.gen(function*() {
    const generator = yield* scripted({ draw: () => Effect.never, queueMax: 2 })
    yield* generator.submit(request("a"))
    yield* generator.submit(request("b"))
    yield* generator.submit(request("b"))
    const error = yield* Effect.flip(generator.submit(request("c")))
    assert.deepStrictEqual(error.reason, new GeneratorError.Transient({ retryAfter: Duration.seconds(1) }))
  }).pipe(Effect.scoped))

it.effect("returns Pending when the picture takes longer than the poll timeout", () =>
  Effect.gen(function*() {
    const generator = yield* scripted({ draw: () => Effect.never })
    const poll = yield* Effect.forkChild(Effect.flatMap(generator.submit(request("a")), generator.poll))
    yield* TestClock.adjust("1 second")
    assert.strictEqual((yield* Fiber.join(poll))._tag, "Pending")
  }).pipe(Effect.scoped))

it.effect("stops a cancelled drawing, and fails its poll", () =>
  Effect.gen(function*() {
    const begun = yield* Deferred.make<void>()
    const stopped = yield* Deferred.make<void>()
    const generator = yield* scripted({
      draw: () =>
        Deferred.succeed(begun, undefined).pipe(
          Effect.andThen(Effect.never),
          Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
        )
    })
    const operation = yield* generator.submit(request("a"))
    yield* Deferred.await(begun)
    const waiting = yield* Effect.forkChild(generator.poll(operation), { startImmediately: true })
    yield* generator.cancel(operation)
    yield* Deferred.await(stopped)
    assert.strictEqual((yield* Fiber.join(waiting))._tag, "Failed")
    yield* generator.cancel(operation)
  }).pipe(Effect.scoped))

it.effect("fails a picture that cannot be drawn without showing the cause to the client", () =>
  Effect.gen(function*() {
    const generator = yield* scripted({ draw: () => Effect.fail(new DrawingPool.NotDrawn({ message: "secret path" })) })
    const operation = yield* generator.submit(request("a"))
    const status = yield* generator.poll(operation)
    assert.deepInclude(status._tag === "Failed" ? status.error : {}, { code: "generation_failed", reason: "internal" })
    assert.notInclude(JSON.stringify(status), "secret")
    assert.strictEqual((yield* Effect.flip(collected(generator, operation))).reason._tag, "Permanent")
  }).pipe(Effect.scoped))

it.effect("draws once for concurrent polls and collects, and keeps at most finishedMax pictures", () =>
  Effect.gen(function*() {
    const drawn: Array<string> = []
    const draw = ({ key }: Drawing) => Effect.sync(() => (drawn.push(key), blank))
    const generator = yield* scripted({ draw, finishedMax: 1 })
    const operations = yield* Effect.forEach(
      ["a", "b", "c"],
      (id) => Effect.tap(generator.submit(request(id)), (operation) => generator.poll(operation))
    )
    assert.deepStrictEqual(drawn, ["id a", "id b", "id c"])
    yield* collected(generator, operations[2] ?? null)
    assert.deepStrictEqual(drawn, ["id a", "id b", "id c"])
    yield* collected(generator, operations[0] ?? null)
    assert.deepStrictEqual(drawn, ["id a", "id b", "id c", "id a"])
  }).pipe(Effect.scoped))

it("has sides in multiples of eight, and about a quarter of a megapixel, one and four", () => {
  const megapixels = { "512px": 0.25, "1k": 1, "2k": 4 }
  for (const aspectRatio of PictureSize.aspectRatios) {
    const [x = 0, y = 0] = aspectRatio.split(":").map(Number)
    for (const resolution of PictureSize.resolutions) {
      const { height, width } = PictureSize.of(aspectRatio, resolution)
      assert.strictEqual(width % 8 + height % 8, 0)
      assert.approximately(width * height / megapixels[resolution] / 2 ** 20, 1, 0.06)
      assert.approximately(width / height, x / y, 0.03)
    }
  }
})

const eighth = ({ height, width }: PictureSize.PictureSize) => ({ width: width >> 3, height: height >> 3 })

/** A picture has light and dark, in many places. */
const assertNotBlank = Effect.fnUntraced(function*(pixels: Uint8Array, width: number, height: number) {
  const picture = sharp(pixels, { raw: { width, height, channels: 4 } })
  const { channels } = yield* Effect.promise(() => picture.stats())
  assert.isAbove(Math.max(...channels.map(({ stdev }) => stdev)), 12)
  const tiny = yield* Effect.promise(() => picture.resize(8, 8, { fit: "fill" }).greyscale().raw().toBuffer())
  assert.isAbove(new Set(tiny).size, 20)
})
