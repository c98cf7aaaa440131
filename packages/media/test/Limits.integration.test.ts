import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { readdir, readFile } from "node:fs/promises"
import { constants, getPriority } from "node:os"
import sharp from "sharp"
import { encodeAs } from "../src/internal/decoder/work.ts"
import * as Media from "../src/Media.ts"
import type { MediaError } from "../src/MediaError.ts"
import * as HeldNode from "./HeldNode.ts"
import * as HeldSharp from "./HeldSharp.ts"
import * as Images from "./Images.ts"
import { make, reasonOf } from "./Reading.ts"

it.effect("rejects a file that is too large without reading it", () =>
  Effect.gen(function*() {
    const reason = yield* reasonOf(Buffer.alloc(101))
    assert.deepInclude(reason, { _tag: "TooManyBytes", bytes: 101, bytesMax: 100 })
    const { preview } = yield* Media.Media
    assert.deepInclude((yield* Effect.flip(preview(Buffer.alloc(201)))).reason, { bytes: 201, bytesMax: 200 })
  }).pipe(Effect.provide(Media.layer({ inputBytesMax: 100, bytesMax: 200 }))))

it.effect("rejects a small file that exceeds the limit after re-encoding", () =>
  Effect.gen(function*() {
    // Each row is the one above, shifted: a filter makes next to nothing of that, and without it no row is like another.
    const row = new Uint8Array(yield* make(() => Images.noise(300, 1).raw().toBuffer()))
    const pixels = Buffer.from(
      Array.from({ length: 200 }, (_, y) => Array.from(row, (value) => value + y & 255)).flat()
    )
    const image = sharp(pixels, { raw: { width: 300, height: 200, channels: 3 } })
    const bytes = yield* make(() => image.png({ adaptiveFiltering: true }).toBuffer())
    assert.isBelow(bytes.length, 10_000)
    assert.deepInclude(yield* reasonOf(bytes), { _tag: "GrewTooLong", bytesMax: 100_000 })
    const { normalise } = yield* Media.Media
    const { bytes: anew } = yield* normalise(yield* make(() => image.resize(150, 100).png().toBuffer()))
    assert.isBelow(anew.length, 100_001)
    const { reason } = yield* Effect.flip(normalise(anew, { resultBytesMax: 1_000 }))
    assert.deepInclude(reason, { _tag: "GrewTooLong", bytesMax: 1_000 })
  }).pipe(Effect.provide(Media.layer({ bytesMax: 100_000 }))))

it.effect("accepts inputs of 10 MiB and not one byte more", () =>
  Effect.gen(function*() {
    const tags = yield* Effect.forEach([0, 1], (more) =>
      Effect.map(reasonOf(Buffer.alloc(10 * 1024 * 1024 + more)), ({ _tag }) => _tag))
    assert.deepStrictEqual(tags, ["UnsupportedFormat", "TooManyBytes"])
  }).pipe(Effect.provide(Media.layer())))

it.effect("encodes large noise as WebP, in spite of the size limit of the format", () =>
  Effect.gen(function*() {
    const bytes = yield* make(() => encodeAs["image/webp"](Images.noise(4_000, 4_000)).toBuffer())
    const facts = yield* Effect.promise(() => sharp(bytes).metadata())
    assert.deepInclude(facts, { format: "webp", width: 4_000, height: 4_000 })
  }))

it.effect("inspects what it would decode, and rejects what it would reject before that", () =>
  Effect.gen(function*() {
    const { inspect } = yield* Media.Media
    const bytes = yield* make(() => Images.noise(30, 20).webp().toBuffer())
    assert.deepStrictEqual(yield* inspect(bytes), { mime: "image/webp", width: 30, height: 20 })
    const rejected = [
      [inspect(bytes.subarray(0, bytes.length - 1)), "Corrupt"],
      [inspect(bytes, { declared: "image/png" }), "Mislabelled"],
      [inspect(Images.bombPng(10_000)), "TooManyPixels"],
      [inspect(yield* make(() => Images.noise(90, 10).png().toBuffer())), "TooNarrow"]
    ] as const
    for (const [inspection, tag] of rejected) {
      assert.strictEqual((yield* Effect.flip(inspection)).reason._tag, tag)
    }
  }).pipe(Effect.provide(Media.layer())))

it.effect(
  "makes previews of results while inputs wait, and takes one input of each owner in turn",
  () =>
    Effect.gen(function*() {
      const { normalise, preview, thumb } = yield* Media.Media
      const sharps = yield* HeldSharp.make
      const small = yield* make(() => Images.noise(20, 20).png().toBuffer())
      const ended: Array<string> = []
      const start = <A, E>(name: string, work: Effect.Effect<A, E>) =>
        sharps.readHeaderOf(Effect.tap(work, () => Effect.sync(() => ended.push(name))))
      const decode = yield* sharps.holdDecode
      const inputs: Array<Fiber.Fiber<unknown, MediaError>> = [
        yield* start("busy 1", normalise(small, { owner: "busy" }))
      ]
      yield* decode.isReached
      inputs.push(
        yield* start("busy 2", normalise(small, { owner: "busy" })),
        yield* start("other", preview(small, { owner: "other" }))
      )
      yield* Effect.andThen(preview(small), thumb(small))
      assert.deepStrictEqual(ended, [])
      yield* decode.release
      yield* Fiber.joinAll(inputs)
      assert.deepStrictEqual(ended, ["busy 1", "other", "busy 2"])
    }).pipe(Effect.scoped, Effect.provide(Media.layer({ concurrency: 1, inputConcurrency: 1 })))
)

it.effect("takes small inputs while large ones of several owners wait", () =>
  Effect.gen(function*() {
    const node = yield* HeldNode.make
    const media = yield* Media.make({ secondsMax: 60, nodePath: node.path })
    const large = Images.bombPng(4_100)
    const small = yield* make(() => Images.noise(20, 20).png().toBuffer())
    const ended: Array<string> = []
    const sharps = yield* HeldSharp.make
    const start = (owner: string, bytes: Uint8Array) =>
      sharps.readHeaderOf(Effect.tap(media.normalise(bytes, { owner }), () => Effect.sync(() => ended.push(owner))))
    const first = yield* start("first", large)
    const releaseFirst = yield* node.isStarted
    const second = yield* start("second", large)
    yield* Fiber.join(yield* start("third", small))
    assert.deepStrictEqual(ended, ["third"])
    yield* releaseFirst
    yield* Fiber.joinAll([first, second])
    assert.deepStrictEqual(ended, ["third", "first", "second"])
  }).pipe(Effect.scoped))

it.effect("decodes at a lower priority than the event loop, on Linux", () =>
  Effect.gen(function*() {
    yield* Media.Media
    const priorities = yield* Effect.promise(async () => {
      const ids = await readdir("/proc/self/task")
      const named = await Promise.all(
        ids.map(async (id) => ({ id, name: await readFile(`/proc/self/task/${id}/comm`, "utf8") }))
      )
      return named.filter(({ name }) => name === "libuv-worker\n").map(({ id }) => getPriority(Number(id)))
    })
    assert.deepStrictEqual([...new Set(priorities)], [constants.priority.PRIORITY_BELOW_NORMAL])
    assert.strictEqual(getPriority(), 0)
  }).pipe(Effect.provide(Media.layer())))

it.effect("rejects a file that takes too long", () =>
  Effect.gen(function*() {
    const reason = yield* reasonOf(Images.bombPng(60_000))
    assert.deepInclude(reason, { _tag: "TookTooLong", secondsMax: 1 })
  }).pipe(Effect.provide(Media.layer({ pixelsMax: 60_000 ** 2, secondsMax: 1 }))))
