import { assert, it, layer } from "@effect/vitest"
import { Generator } from "@kinora/generator"
import { Deferred, Duration, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import sharp from "sharp"
import * as DrawingPool from "../src/internal/DrawingPool.ts"
import * as ProceduralGenerator from "../src/ProceduralGenerator.ts"
import { boxIn, trackIn } from "./clip/boxes.ts"
import { blank, collected, made, request, scripted } from "./Requests.ts"

const video = { kind: "video", mode: "text_to_video", format: "mp4", prompt: "bauhaus pattern" } as const
const small = { aspect_ratio: "1:1", resolution: "480p", duration: 2 } as const

layer(ProceduralGenerator.layer({ threads: 1 }), { excludeTestServices: true, timeout: "60 seconds" })(
  "videos",
  (it) => {
    it.effect("makes a video from text, with its poster", () =>
      Effect.gen(function*() {
        const output = yield* made(request("text", { ...video, params: small }))
        assert.deepInclude(output, { mime: "video/mp4", width: 480, height: 480, duration: Duration.seconds(2) })
        assert.deepStrictEqual(boxIn(output.bytes).map(({ type }) => type), ["ftyp", "moov", "mdat"])
        assert.deepInclude(trackIn(output.bytes), { codec: "avc1", width: 480, height: 480, seconds: 2 })
        const poster = yield* Effect.promise(() => sharp(output.poster).metadata())
        assert.deepInclude(poster, { format: "webp", width: 480, height: 480 })
      }))

    it.effect("makes a video from an image, cropped to its shape, that starts with it", () =>
      Effect.gen(function*() {
        const source = sharp({ create: { width: 960, height: 600, channels: 3, background: "#204060" } })
        const file = yield* Effect.promise(() => source.png().toBuffer())
        const image = {
          mime: "image/png",
          width: 960,
          height: 600,
          bytes: file.length,
          body: Stream.make(file)
        } as const
        const output = yield* made(
          request("image", { ...video, mode: "image_to_video", prompt: "crimson", params: small, images: [image] })
        )
        const { channels } = yield* Effect.promise(() => sharp(output.poster).stats())
        const means = channels.map(({ mean }) => mean)
        for (const [index, value] of [0x20, 0x40, 0x60].entries()) assert.approximately(means[index] ?? 0, value, 3)
      }))
  }
)

it.effect("uses 16:9, 720p and four seconds by default", () =>
  Effect.gen(function*() {
    const drawing = yield* Deferred.make<object>()
    const generator = yield* scripted({ draw: (drawn) => Effect.as(Deferred.succeed(drawing, drawn), blank) })
    yield* generator.submit(request("defaults", video))
    assert.deepInclude(yield* Deferred.await(drawing), { width: 1280, height: 720, seconds: 4, format: "mp4" })
  }).pipe(Effect.scoped))

it.effect("reports the progress of a video through poll", () =>
  Effect.gen(function*() {
    const generator = yield* scripted({
      draw: (_, report) => Effect.andThen(Effect.sync(() => report?.(0.25)), Effect.never)
    })
    const operation = yield* generator.submit(request("progress", video))
    const poll = yield* Effect.forkChild(generator.poll(operation))
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(yield* Fiber.join(poll), Generator.pending(Duration.zero, 0.25))
  }).pipe(Effect.scoped))

it.live("stops drawing an interrupted video, and frees its thread", () =>
  Effect.gen(function*() {
    const pool = yield* DrawingPool.make({ threads: 1 })
    const begun = yield* Deferred.make<void>()
    const drawing = { ...picture, width: 640, height: 360, format: "mp4", seconds: 10 } as const
    let drawnShare = 0
    const report = (progress: number) => {
      drawnShare = progress
      Deferred.doneUnsafe(begun, Effect.void)
    }
    const drawn = yield* Effect.forkChild(pool.draw(drawing, report))
    yield* Deferred.await(begun)
    yield* Fiber.interrupt(drawn)
    assert.isAbove((yield* pool.draw(picture)).bytes.length, 100)
    assert.isBelow(drawnShare, 1)
  }).pipe(Effect.scoped))

it.effect("draws an operation of a version without videos", () =>
  Effect.gen(function*() {
    const generator = yield* scripted()
    const operation = yield* generator.submit(request("old"))
    const { seconds: _, ...old } = operation as {
      readonly seconds: null
      readonly [name: string]: string | number | null
    }
    assert.strictEqual((yield* Effect.flatMap(scripted(), (generator) => generator.poll(old)))._tag, "Succeeded")
    assert.strictEqual((yield* collected(generator, old)).mime, "image/webp")
  }).pipe(Effect.scoped))

const picture = {
  prompt: "bauhaus",
  key: "any",
  width: 64,
  height: 64,
  format: "png",
  seconds: null,
  references: []
} as const
