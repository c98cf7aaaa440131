/** Watermarks: of images on every background, and of videos where `ffmpeg` is installed. */
import { assert, it } from "@effect/vitest"
import * as SmallDisk from "@kinora/testkit/SmallDisk"
import { Effect, Stream } from "effect"
import { spawnSync } from "node:child_process"
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import sharp, { type Sharp } from "sharp"
import * as Media from "../src/Media.ts"
import type { MediaFile, VideoFacts, WatermarkOptions } from "../src/MediaFile.ts"
import { noise, turnedBack } from "./Images.ts"
import * as Videos from "./Videos.ts"

const layer = Effect.provide(Media.layer())

const flat = (background: string, width = 400, height = 300) =>
  sharp({ create: { width, height, channels: 3, background } })

const encoded = (image: Sharp, format: "png" | "jpeg" | "webp" = "png") =>
  Effect.promise(() => image.toFormat(format).toBuffer())

const watermark = Effect.fnUntraced(function*(bytes: Uint8Array) {
  const media = yield* Media.Media
  return yield* media.watermark(bytes)
})

/** The largest value of a channel. */
const maxOf = (bytes: Uint8Array) =>
  Effect.map(pixelsOf(bytes), ({ data }) => data.reduce((max, value) => Math.max(max, value), 0))

/** The pixels of an image as RGB. */
const pixelsOf = (bytes: Uint8Array) =>
  Effect.promise(() => sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true }))

/**
 * Returns the mean difference of two pictures inside the discs of the tiles, which contain the
 * mark, and the largest difference outside.
 */
const differences = Effect.fnUntraced(function*(before: Uint8Array, after: Uint8Array) {
  const [one, other] = [yield* pixelsOf(before), yield* pixelsOf(after)]
  const { height, width } = one.info
  assert.deepStrictEqual([other.info.width, other.info.height], [width, height])
  const side = Math.max(64, Math.round(Math.min(width, height) / 4))
  const [sums, counts] = [[0, 0], [0, 0]]
  let outside = 0
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const isInside = Math.hypot((x % side) + 0.5 - side / 2, (y % side) + 0.5 - side / 2) < 0.38 * side
      for (let channel = 0; channel < 3; channel++) {
        const at = (y * width + x) * 3 + channel
        const difference = Math.abs(one.data[at]! - other.data[at]!)
        if (!isInside) outside = Math.max(outside, difference)
        else if (difference > 0) {
          // The left and the right half of the picture.
          const half = x < width / 2 ? 0 : 1
          sums[half]! += difference
          counts[half]!++
        }
      }
    }
  }
  const share = (counts[0]! + counts[1]!) / (width * height * 3)
  return { inside: sums.map((sum, half) => sum / counts[half]!), outside, share }
})

const backgrounds = {
  black: () => flat("#000"),
  white: () => flat("#fff"),
  grey: () => flat("#808080"),
  noise: () => noise(400, 300)
}

for (const [name, image] of Object.entries(backgrounds)) {
  it.effect(`is visible everywhere on ${name}, and changes nothing beside the mark`, () =>
    Effect.gen(function*() {
      const before = yield* encoded(image())
      const { inside, outside, share } = yield* differences(before, (yield* watermark(before)).bytes)
      for (const mean of inside) assert.isAbove(mean, 40)
      assert.strictEqual(outside, 0)
      assert.isTrue(share > 0.05 && share < 0.35, `${share}`)
    }).pipe(layer))
}

for (const format of ["png", "jpeg", "webp"] as const) {
  it.effect(`of a ${format} keeps the format, the size and the text on how it was made, and is upright`, () =>
    Effect.gen(function*() {
      const options = { orientation: 6, exif: { IFD0: { Software: "a generator" } } }
      const xmp = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">a generator</x:xmpmeta>"
      const before = yield* encoded(flat("#333").withMetadata(options).withXmp(xmp), format)
      const { bytes, height, mime, width } = yield* watermark(before)
      assert.deepStrictEqual([mime, width, height], [`image/${format}`, 300, 400])
      const after = yield* Effect.promise(() => sharp(bytes).metadata())
      assert.deepStrictEqual([after.format, after.width, after.height], [format, 300, 400])
      assert.notStrictEqual(after.orientation, 6)
      assert.include(after.exif?.toString("latin1"), "a generator")
      assert.include(after.xmp?.toString(), "a generator")
      const upright = yield* Effect.promise(() => sharp(before).autoOrient().png().toBuffer())
      const { inside, outside } = yield* differences(upright, bytes)
      for (const mean of inside) assert.isAbove(mean, 20)
      assert.isBelow(outside, format === "png" ? 1 : 80)
    }).pipe(layer))
}

it.effect("is the same on every turn of the same picture", () =>
  Effect.gen(function*() {
    const upright = yield* encoded(noise(200, 100))
    const marked = yield* watermark(upright)
    const turned = yield* watermark(yield* Effect.promise(() => turnedBack(upright, 6)))
    assert.deepStrictEqual(yield* pixelsOf(turned.bytes), yield* pixelsOf(marked.bytes))
  }).pipe(layer))

it.effect("is visible on transparency, on small pictures, and on previews and thumbs", () =>
  Effect.gen(function*() {
    const media = yield* Media.Media
    const clear = sharp({ create: { width: 300, height: 300, channels: 4, background: "#0000" } })
    const { channels } = yield* Effect.promise(async () =>
      sharp((await Effect.runPromise(media.watermark(await clear.png().toBuffer()))).bytes).stats()
    )
    assert.isAbove(channels[3]?.max ?? 0, 100)
    for (const [width, height] of [[40, 20], [1, 1]] as const) {
      const marked = yield* media.watermark(yield* encoded(flat("#000", width, height)))
      assert.isAbove(yield* maxOf(marked.bytes), width === 1 ? -1 : 40)
    }
    const marked = yield* media.watermark(yield* encoded(flat("#000", 1600, 1200)))
    const preview = yield* media.preview(marked.bytes)
    for (const { bytes } of [preview, yield* media.thumb(preview.bytes)]) {
      assert.isAbove(yield* maxOf(bytes), 100)
    }
  }).pipe(layer))

it.effect("rejects animations and damaged images, and images above a limit", () =>
  Effect.gen(function*() {
    const media = yield* Media.make({ bytesMax: 50_000, pixelsMax: 300 * 300 })
    const reasonOf = (bytes: Uint8Array) => Effect.map(Effect.flip(media.watermark(bytes)), ({ reason }) => reason._tag)
    const frames = Buffer.alloc(8 * 16 * 3)
    frames.fill(255, 0, 8 * 8 * 3)
    const animated = sharp(frames, { raw: { width: 8, height: 16, channels: 3, pageHeight: 8 } }).webp({ loop: 0 })
    assert.strictEqual(yield* reasonOf(yield* Effect.promise(() => animated.toBuffer())), "Animated")
    const png = yield* encoded(noise(100, 100))
    assert.strictEqual(yield* reasonOf(png.subarray(0, 5_000)), "Corrupt")
    assert.strictEqual(yield* reasonOf(yield* encoded(flat("#000", 400, 400))), "TooManyPixels")
    assert.strictEqual(yield* reasonOf(yield* encoded(noise(300, 300), "jpeg")), "TooManyBytes")
  }).pipe(Effect.scoped))

// -----------------------------------------------------------------------------
// videos
// -----------------------------------------------------------------------------

const fileOf = (video: Uint8Array): MediaFile<never> => ({
  bytes: video.length,
  read: (start, length) => Effect.sync(() => video.subarray(start, start + length))
})

const watermarkVideo = Effect.fnUntraced(function*(video: Uint8Array, watermark: WatermarkOptions) {
  const { probe, watermarkVideo } = yield* Media.make({ watermark })
  const file = fileOf(video)
  const { body, bytes } = yield* watermarkVideo(file, (yield* probe(file)) as VideoFacts)
  const marked = yield* Stream.mkUint8Array(body)
  assert.strictEqual(marked.length, bytes)
  assert.deepStrictEqual(yield* Stream.mkUint8Array(body), marked)
  return marked
}, Effect.scoped)

const reasonOf = (options: WatermarkOptions, video: Uint8Array = Videos.mp4) =>
  Effect.map(
    Effect.flip(watermarkVideo(video, options)),
    (error) => error._tag === "WatermarkError" ? error.reason._tag : error._tag
  )

/** A program in place of `ffmpeg` that runs these commands, with the output file as `$target`. */
const programOf = (commands: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await mkdtemp(join(tmpdir(), "kinora-program-"))
      const program = join(folder, "ffmpeg")
      const target = "for target; do :; done; target=${target#file:}"
      await writeFile(program, `#!/bin/sh\n[ "$1" = -version ] && exit 0\n${target}\n${commands}\n`)
      await chmod(program, 0o755)
      return { program, directory: await mkdtemp(join(folder, "temporary-")) }
    }),
    ({ program }) => Effect.promise(() => rm(join(program, ".."), { recursive: true }))
  )

it.live("of a video is what the program writes, and leaves no files", () =>
  Effect.gen(function*() {
    const options = yield* programOf("printf marked > \"$target\"")
    assert.strictEqual(Buffer.from(yield* watermarkVideo(Videos.mp4, options)).toString(), "marked")
    assert.deepStrictEqual(yield* Effect.promise(() => readdir(options.directory)), [])
    assert.isTrue(yield* (yield* Media.make({ frame: options })).canWatermarkVideos)
  }).pipe(Effect.scoped))

it.live("fails without the program, and never returns the video without a mark", () =>
  Effect.gen(function*() {
    const missing = { program: "/nowhere/ffmpeg" }
    assert.isFalse(yield* (yield* Media.make({ watermark: missing })).canWatermarkVideos)
    assert.strictEqual(yield* reasonOf(missing), "ProgramMissing")
    for (const commands of ["exit 1", "exit 0", "exec sleep 60"]) {
      const options = yield* programOf(commands)
      assert.strictEqual(yield* reasonOf({ ...options, secondsMax: 0.5 }), "ProgramFailed", commands)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(options.directory)), [])
    }
    const options = yield* programOf("head -c 2000 /dev/zero > \"$target\"")
    assert.strictEqual(yield* reasonOf({ ...options, bytesMax: Videos.mp4.length - 1 }), "VideoTooLarge")
    assert.strictEqual(yield* reasonOf({ ...options, bytesMax: 2000 }), "VideoTooLarge")
    assert.strictEqual(yield* reasonOf({ ...options, sideMax: 15 }), "VideoTooLarge")
  }).pipe(Effect.scoped))

it.live("fails while the disk of temporary files is full, and succeeds when there is room", (context) =>
  Effect.gen(function*() {
    const { directory, program } = yield* programOf("printf marked > \"$target\"")
    const disk = yield* SmallDisk.mount(directory, 1)
    if (disk === undefined) return yield* SmallDisk.missing(context)
    yield* disk.fill
    assert.strictEqual(yield* reasonOf({ program, directory }), "ProgramFailed")
    yield* disk.free
    assert.deepStrictEqual(yield* Effect.promise(() => readdir(directory)), [])
    assert.strictEqual(Buffer.from(yield* watermarkVideo(Videos.mp4, { program, directory })).toString(), "marked")
  }).pipe(Effect.scoped))

/** `FFMPEG` is the path of a program that is not in a default folder. */
const ffmpeg = process.env["FFMPEG"] ?? "ffmpeg"
const run = (...args: ReadonlyArray<string>) => spawnSync(ffmpeg, args, { env: {} })
const isInstalled = run("-version").status === 0

for (const [mime, format, codec] of [["video/mp4", "mp4", "libx264"], ["video/webm", "webm", "libvpx"]] as const) {
  it.live(`of a ${format} is visible in every frame with ffmpeg, and the video keeps its sides, duration and text`, (context) =>
    Effect.gen(function*() {
      if (!isInstalled && process.env["FFMPEG"] === undefined) {
        return context.skip("NOT TESTED: ffmpeg is not installed")
      }
      const folder = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-video-test-"))),
        (folder) => Effect.promise(() => rm(folder, { recursive: true }))
      )
      const path = join(folder, `video.${format}`)
      const source = ["-f", "lavfi", "-i", "color=black:s=320x180:r=5:d=2"]
      run("-v", "error", ...source, "-c:v", codec, "-pix_fmt", "yuv420p", "-metadata", "comment=made so", path)
      const video = yield* Effect.promise(() => readFile(path))
      const marked = yield* watermarkVideo(video, { program: ffmpeg })
      assert.include(Buffer.from(marked).toString("latin1"), "made so")
      const { probe } = yield* Media.make({})
      assert.deepInclude(yield* probe(fileOf(marked)), { kind: "video", mime, width: 320, height: 180 })
      assert.deepStrictEqual(
        (yield* probe(fileOf(marked)) as Effect.Effect<VideoFacts>).duration,
        (yield* probe(fileOf(video)) as Effect.Effect<VideoFacts>).duration
      )
      yield* Effect.promise(() => writeFile(path, marked))
      const { stdout } = run("-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "gray", "-vsync", "0", "pipe:1")
      assert.strictEqual(stdout.length, 10 * 320 * 180)
      for (let frame = 0; frame < 10; frame++) {
        const pixels = stdout.subarray(frame * 320 * 180, (frame + 1) * 320 * 180)
        const share = pixels.filter((value) => value > 80).length / pixels.length
        assert.isTrue(share > 0.05 && share < 0.35, `${frame}: ${share}`)
      }
    }).pipe(Effect.scoped))
}
