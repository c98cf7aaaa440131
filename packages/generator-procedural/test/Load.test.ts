import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import sharp from "sharp"
import { drawClip } from "../src/internal/clip/clip.ts"
import type { DrawingPool } from "../src/internal/DrawingPool.ts"
import * as Load from "../src/internal/Load.ts"
import { draw, type Drawing } from "../src/internal/picture.ts"
import { boxIn, trackIn } from "./clip/boxes.ts"
import { blank } from "./Requests.ts"

const drawing = (key: string, rest: Partial<Drawing> = {}): Drawing => ({
  prompt: "a prompt",
  key,
  width: 64,
  height: 48,
  format: "png",
  seconds: null,
  references: [],
  ...rest
})

/** A pool that draws in this thread, and the drawings that it drew. */
const recording = () => {
  const drawn: Array<Drawing> = []
  const pool: DrawingPool = {
    draw: (drawing) =>
      Effect.promise(async () => {
        drawn.push(drawing)
        if (drawing.seconds === null) return { bytes: await draw(drawing), poster: null }
        const { file, poster } = await drawClip({ ...drawing, seconds: drawing.seconds }, null, () => undefined)
        return { bytes: file, poster }
      })
  }
  return { drawn, pool }
}

const instant = { latencyMedian: 0, latencyP95: 0 }

it.effect("draws each shape once, and gives each request a valid file of its own", () =>
  Effect.gen(function*() {
    const { drawn, pool } = recording()
    const { draw } = yield* Load.make(pool, instant)
    for (const format of ["png", "jpeg", "webp"] as const) {
      const files = yield* Effect.forEach(["a", "b", "cc"], (key) => draw(drawing(key, { format })))
      assert.strictEqual(new Set(files.map(({ bytes }) => Buffer.from(bytes).toString("hex"))).size, 3)
      const pixels = yield* Effect.forEach(files, ({ bytes }) =>
        Effect.promise(() =>
          sharp(bytes, { failOn: "warning" }).raw().toBuffer({ resolveWithObject: true })
        ))
      for (const { data, info } of pixels) {
        assert.deepInclude(info, { width: 64, height: 48 })
        assert.isTrue(data.equals(pixels[0]!.data))
      }
    }
    assert.deepStrictEqual(drawn.map(({ format }) => format), ["png", "jpeg", "webp"])
  }))

it.effect("gives each video a file of its own, with the same poster", () =>
  Effect.gen(function*() {
    const { drawn, pool } = recording()
    const { draw } = yield* Load.make(pool, instant)
    const [a, b] = [
      yield* draw(drawing("a", { format: "mp4", seconds: 2 })),
      yield* draw(drawing("b", { format: "mp4", seconds: 2 }))
    ]
    assert.notDeepEqual(a.bytes, b.bytes)
    assert.deepStrictEqual(a.poster, b.poster)
    for (const { bytes } of [a, b]) {
      assert.deepStrictEqual(boxIn(bytes).map(({ type }) => type), ["ftyp", "moov", "mdat", "free"])
      assert.deepInclude(trackIn(bytes), { codec: "avc1", seconds: 2, samples: 48 })
    }
    assert.strictEqual(drawn.length, 1)
  }))

it.effect("takes the times of the distribution, and the same time for the same request", () =>
  Effect.gen(function*() {
    const { draw } = yield* Load.make({ draw: () => Effect.succeed(blank) }, {
      latencyMedian: "10 seconds",
      latencyP95: "1 minute",
      latencyMax: "2 minutes"
    })
    const fibers = yield* Effect.forEach(
      Array.from({ length: 400 }, (_, index) => `${index}`),
      (key) =>
        Effect.forkChild(Effect.all([draw(drawing(key, { format: "jpeg" })), draw(drawing(key))], { concurrency: 2 }))
    )
    const finished = () => fibers.filter((fiber) => fiber.pollUnsafe() !== undefined).length
    assert.strictEqual(finished(), 0)
    yield* TestClock.adjust("10 seconds")
    assert.approximately(finished(), 200, 40)
    yield* TestClock.adjust("50 seconds")
    assert.approximately(finished(), 380, 15)
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(finished(), 400)
  }))

it.effect("fails the configured share of the requests", () =>
  Effect.gen(function*() {
    const outcomes = Effect.fnUntraced(function*(failureRate: number) {
      const { draw } = yield* Load.make({ draw: () => Effect.succeed(blank) }, { ...instant, failureRate })
      const exits = yield* Effect.forEach(
        Array.from({ length: 300 }, (_, index) => drawing(`${index}`, { format: "jpeg" })),
        (drawing) => Effect.forkChild(Effect.exit(draw(drawing)))
      )
      yield* TestClock.adjust(0)
      const all = yield* Effect.forEach(exits, Fiber.join)
      return all.filter(Exit.isFailure).length
    })
    assert.strictEqual(yield* outcomes(0), 0)
    assert.approximately(yield* outcomes(0.3), 90, 30)
    assert.strictEqual(yield* outcomes(1), 300)
  }))
