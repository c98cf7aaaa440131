import { assert, it, layer } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { setImmediate } from "node:timers/promises"
import sharp from "sharp"
import * as Media from "../src/Media.ts"
import * as Images from "./Images.ts"

const reasonOf = (bytes: Uint8Array, declared?: string) =>
  Media.Media.use(({ probeImage }) => Effect.flip(probeImage(bytes, { declared }))).pipe(
    Effect.map(({ reason }) => reason)
  )

const make = (image: () => Promise<Buffer>) => Effect.promise(image)

layer(Media.layer())("Media", (it) => {
  for (const [name, { format, image }] of Object.entries(Images.variants)) {
    it.effect(`tells type and sides of a ${name}`, () =>
      Effect.gen(function*() {
        const { probeImage } = yield* Media.Media
        const bytes = yield* make(image)
        const probe = yield* probeImage(bytes, { declared: `image/${format}` })
        assert.deepStrictEqual(probe, { mime: `image/${format}`, width: 300, height: 200 })
      }))

    it.effect(`refuses a ${name} cut anywhere (D18)`, () =>
      Effect.gen(function*() {
        const bytes = yield* make(image)
        const cuts = [1, 2, 4, 11, 12, 13, 16, 50, 200, bytes.length >> 2, bytes.length >> 1, bytes.length - 30]
        for (const cut of cuts) {
          const reason = yield* reasonOf(bytes.subarray(0, bytes.length - cut))
          assert.strictEqual(reason._tag, "Corrupt", `cut by ${cut}`)
        }
      }))

    it.effect(`makes a preview and a thumb of a ${name}`, () =>
      Effect.gen(function*() {
        const { preview, thumb } = yield* Media.Media
        const bytes = yield* make(image)
        const [large, small] = [yield* preview(bytes), yield* thumb(bytes)]
        assert.deepStrictEqual([large.width, large.height], [300, 200])
        assert.deepStrictEqual([small.width, small.height], [256, 171])
        for (const { bytes, height, width } of [large, small]) {
          const found = yield* make(() => sharp(bytes).toBuffer()).pipe(
            Effect.andThen(Effect.promise(() => sharp(bytes).metadata()))
          )
          assert.deepStrictEqual([found.format, found.width, found.height], ["webp", width, height])
        }
      }))
  }

  it.effect("refuses what is declared as another type than it is (D18)", () =>
    Effect.gen(function*() {
      for (const found of Images.formats) {
        const bytes = yield* make(() => Images.noise(20, 20).toFormat(found).toBuffer())
        for (const declared of [...Images.formats.filter((format) => format !== found), "gif", "svg+xml"]) {
          const reason = yield* reasonOf(bytes, `image/${declared}`)
          assert.deepInclude(reason, { _tag: "Mislabelled", declared: `image/${declared}`, found: `image/${found}` })
        }
      }
    }))

  it.effect("refuses every other type, whatever it is declared as", () =>
    Effect.gen(function*() {
      const image = Images.noise(20, 20)
      const others = [
        yield* make(() => image.clone().gif().toBuffer()),
        yield* make(() => image.clone().tiff().toBuffer()),
        yield* make(() => image.clone().avif().toBuffer()),
        Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`),
        Buffer.from("%PDF-1.7"),
        Buffer.from("RIFF\0\0\0\0WAVE"),
        Buffer.alloc(0),
        Buffer.alloc(1_000)
      ]
      for (const bytes of others) assert.strictEqual((yield* reasonOf(bytes, "image/png"))._tag, "UnsupportedFormat")
    }))

  it.effect("keeps loaders of other types blocked in the whole process", () =>
    Effect.gen(function*() {
      const svg = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`)
      const png = yield* make(() => Images.noise(9, 9).png().toBuffer())
      const exits = yield* Effect.forEach([svg, png], (bytes) =>
        Effect.exit(Effect.tryPromise(() => sharp(bytes).toBuffer())))
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [false, true])
    }))

  it.effect("refuses a signature with nothing behind it", () =>
    Effect.gen(function*() {
      for (const format of Images.formats) {
        const bytes = yield* make(() => Images.noise(20, 20).toFormat(format).toBuffer())
        for (const length of [12, 16, 24]) {
          assert.strictEqual((yield* reasonOf(bytes.subarray(0, length)))._tag, "Corrupt")
        }
      }
    }))

  it.effect("refuses forged sides by the header alone", () =>
    Effect.gen(function*() {
      const jpeg = yield* make(() => Images.noise(20, 20).jpeg().toBuffer())
      const webp = yield* make(() => Images.noise(20, 20).webp().toBuffer())
      const forged: ReadonlyArray<readonly [Buffer, number, number]> = [
        [Images.hollowPng(100_000, 100_000, Buffer.alloc(9)), 100_000, 100_000],
        [Images.resizedJpegHeader(jpeg, 65_500, 65_500), 65_500, 65_500],
        [Images.resizedWebpHeader(webp, 16_383, 16_383), 16_383, 16_383]
      ]
      for (const [bytes, width, height] of forged) {
        assert.deepInclude(yield* reasonOf(bytes), { _tag: "TooManyPixels", width, height, pixelsMax: 40_000_000 })
      }
    }))

  it.effect("refuses sides that no image has", () =>
    Effect.gen(function*() {
      for (const side of [0, 2 ** 31, 2 ** 32 - 1]) {
        assert.strictEqual((yield* reasonOf(Images.hollowPng(side, side, Buffer.alloc(9))))._tag, "Corrupt")
      }
    }))

  it.effect("refuses forged sides within the limit when the pixels are missing", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* reasonOf(Images.hollowPng(6_000, 6_000, Buffer.alloc(9))))._tag, "Corrupt")
    }))

  it.effect("takes 40 megapixels and not one row more (D18)", () =>
    Effect.gen(function*() {
      const { probeImage } = yield* Media.Media
      const create = (height: number) =>
        make(() => sharp({ create: { width: 8_000, height, channels: 3, background: "teal" } }).png().toBuffer())
      assert.deepInclude(yield* probeImage(yield* create(5_000)), { width: 8_000, height: 5_000 })
      assert.strictEqual((yield* reasonOf(yield* create(5_001)))._tag, "TooManyPixels")
    }))

  it.effect("bounds the long side of previews and thumbs (D10)", () =>
    Effect.gen(function*() {
      const { preview, thumb } = yield* Media.Media
      const sides = [[2_048, 1_024, 1_024, 512, 256, 128], [900, 1_800, 512, 1_024, 128, 256], [
        20_000,
        1,
        1_024,
        1,
        256,
        1
      ]]
      for (const [width, height, ...expected] of sides) {
        const bytes = yield* make(() => Images.noise(width as number, height as number).png().toBuffer())
        const [large, small] = [yield* preview(bytes), yield* thumb(bytes)]
        assert.deepStrictEqual([large.width, large.height, small.width, small.height], expected)
      }
    }))

  it.effect("never enlarges", () =>
    Effect.gen(function*() {
      const { preview, thumb } = yield* Media.Media
      const bytes = yield* make(() => Images.noise(31, 17).png().toBuffer())
      for (const derive of [preview, thumb]) {
        assert.deepInclude(yield* derive(bytes), { mime: "image/webp", width: 31, height: 17 })
      }
    }))

  it.effect("turns an image upright, says the sides that are shown, and keeps no metadata", () =>
    Effect.gen(function*() {
      const { preview, probeImage } = yield* Media.Media
      const bytes = yield* make(() =>
        Images.noise(60, 30)
          .withMetadata({ orientation: 6 })
          .withExifMerge({ IFD0: { Copyright: "somebody", Artist: "at home" } })
          .withIccProfile("p3")
          .jpeg()
          .toBuffer()
      )
      const source = yield* make(() => sharp(bytes).toBuffer()).pipe(
        Effect.andThen(Effect.promise(() => sharp(bytes).metadata()))
      )
      assert.isDefined(source.exif)
      assert.isDefined(source.icc)
      assert.deepInclude(yield* probeImage(bytes), { width: 30, height: 60 })
      const small = yield* preview(bytes)
      const found = yield* Effect.promise(() => sharp(small.bytes).metadata())
      assert.deepStrictEqual([found.width, found.height, found.space], [30, 60, "srgb"])
      for (const part of ["exif", "icc", "iptc", "xmp", "orientation"] as const) assert.isUndefined(found[part])
    }))

  it.effect("keeps transparency", () =>
    Effect.gen(function*() {
      const { thumb } = yield* Media.Media
      const background = { r: 200, g: 0, b: 0, alpha: 0.5 }
      const bytes = yield* make(() =>
        sharp({ create: { width: 40, height: 40, channels: 4, background } }).png().toBuffer()
      )
      const small = yield* thumb(bytes)
      assert.isTrue((yield* Effect.promise(() => sharp(small.bytes).metadata())).hasAlpha)
    }))

  it.effect("refuses to derive from what it would not probe", () =>
    Effect.gen(function*() {
      const { preview, thumb } = yield* Media.Media
      const bytes = yield* make(() => Images.noise(300, 200).jpeg().toBuffer())
      for (const derive of [preview, thumb]) {
        const cut = yield* Effect.flip(derive(bytes.subarray(0, bytes.length - 1)))
        const text = yield* Effect.flip(derive(Buffer.from("text")))
        const huge = yield* Effect.flip(derive(Images.hollowPng(100_000, 100_000, Buffer.alloc(9))))
        assert.deepStrictEqual([cut, text, huge].map(({ reason }) => reason._tag), [
          "Corrupt",
          "UnsupportedFormat",
          "TooManyPixels"
        ])
      }
    }))

  it.effect("refuses a PNG with a byte changed anywhere", () =>
    Effect.gen(function*() {
      const bytes = yield* make(() => Images.noise(300, 200).png().toBuffer())
      for (let i = 0; i < 40; i++) {
        const damaged = Buffer.from(bytes)
        const place = 8 + Math.floor((bytes.length - 9) * i / 39)
        damaged.writeUInt8(damaged.readUInt8(place) ^ 0x10, place)
        assert.strictEqual((yield* reasonOf(damaged))._tag, "Corrupt", `byte ${place} of ${bytes.length}`)
      }
    }))

  it.effect("reads the first frame of an animation", () =>
    Effect.gen(function*() {
      const { preview, probeImage } = yield* Media.Media
      const frame = (background: string) =>
        make(() => sharp({ create: { width: 30, height: 20, channels: 3, background } }).png().toBuffer())
      const frames = [yield* frame("red"), yield* frame("blue")]
      const bytes = yield* make(() => sharp(frames, { join: { animated: true } }).webp().toBuffer())
      assert.strictEqual((yield* Effect.promise(() => sharp(bytes).metadata())).pages, 2)
      assert.deepInclude(yield* probeImage(bytes), { width: 30, height: 20 })
      const small = yield* preview(bytes)
      assert.deepInclude(small, { width: 30, height: 20 })
      const { channels: [red, , blue] } = yield* Effect.promise(() => sharp(small.bytes).stats())
      assert.isTrue(red!.mean > 200 && blue!.mean < 50)
    }))

  it.effect("refuses a JPEG of nothing but markers at once", () =>
    Effect.gen(function*() {
      const bytes = Buffer.alloc(10_000_000, 0xff)
      bytes.writeUInt8(0xd8, 1)
      assert.strictEqual((yield* reasonOf(bytes))._tag, "Corrupt")
    }))

  it.effect("takes what cameras append to a whole file, and drops it", () =>
    Effect.gen(function*() {
      const { preview, probeImage } = yield* Media.Media
      const appended = Buffer.from("<script>alert(1)</script>")
      for (const format of ["png", "jpeg"] as const) {
        const bytes = Buffer.concat([yield* make(() => Images.noise(20, 20).toFormat(format).toBuffer()), appended])
        assert.strictEqual((yield* probeImage(bytes)).mime, `image/${format}`)
        assert.isFalse(Buffer.from((yield* preview(bytes)).bytes).includes(appended))
      }
    }))

  it.effect("reads bytes in the middle of a larger buffer", () =>
    Effect.gen(function*() {
      const { probeImage } = yield* Media.Media
      const bytes = yield* make(() => Images.noise(20, 10).png().toBuffer())
      const larger = new Uint8Array(bytes.length + 20)
      larger.set(bytes, 7)
      assert.deepInclude(yield* probeImage(larger.subarray(7, 7 + bytes.length)), { width: 20, height: 10 })
    }))

  it.effect("leaves the event loop free", () =>
    Effect.gen(function*() {
      const { probeImage } = yield* Media.Media
      const bytes = yield* make(() => Images.noise(3_000, 2_000).webp({ effort: 0 }).toBuffer())
      const fiber = yield* Effect.forkChild(probeImage(bytes), { startImmediately: true })
      let turns = 0
      while (fiber.pollUnsafe() === undefined) {
        yield* Effect.promise(() => setImmediate())
        turns++
      }
      yield* Fiber.join(fiber)
      assert.isAbove(turns, 10)
    }))
})

it.effect("refuses a file that is too long, unread", () =>
  Effect.gen(function*() {
    const reason = yield* reasonOf(Buffer.alloc(101))
    assert.deepInclude(reason, { _tag: "TooManyBytes", bytes: 101, bytesMax: 100 })
  }).pipe(Effect.provide(Media.layer({ bytesMax: 100 }))))

it.effect("gives up on a file that takes too long", () =>
  Effect.gen(function*() {
    const reason = yield* reasonOf(Images.bombPng(60_000))
    assert.deepInclude(reason, { _tag: "TookTooLong", secondsMax: 1 })
  }).pipe(Effect.provide(Media.layer({ pixelsMax: 60_000 ** 2, secondsMax: 1 }))))
