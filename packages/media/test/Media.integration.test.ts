import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { setImmediate } from "node:timers/promises"
import { deflateSync } from "node:zlib"
import sharp from "sharp"
import * as Media from "../src/Media.ts"
import * as Images from "./Images.ts"
import { make, reasonOf } from "./Reading.ts"

// A busy machine takes longer for the largest images than the default of 10 seconds.
layer(Media.layer({ secondsMax: 60 }))("Media", (it) => {
  for (const [name, { format, image }] of Object.entries(Images.variants)) {
    it.effect(`re-encodes a ${name} in its own format`, () =>
      Effect.gen(function*() {
        const { normalise } = yield* Media.Media
        const { bytes, ...facts } = yield* normalise(yield* make(image), { declared: `image/${format}` })
        assert.deepStrictEqual(facts, { mime: `image/${format}`, width: 300, height: 200 })
        const found = yield* Effect.promise(() => sharp(bytes, { failOn: "warning" }).metadata())
        assert.deepInclude(found, { format, width: 300, height: 200, space: "srgb", depth: "uchar" })
        assert.deepStrictEqual(yield* normalise(yield* make(image)), { bytes, ...facts }, "always the same")
      }))

    it.effect(`rejects a ${name} that is cut anywhere`, () =>
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

  it.effect("rejects a file that is declared as another type", () =>
    Effect.gen(function*() {
      for (const found of Images.formats) {
        const bytes = yield* make(() => Images.noise(20, 20).toFormat(found).toBuffer())
        for (const declared of [...Images.formats.filter((format) => format !== found), "gif", "svg+xml"]) {
          const reason = yield* reasonOf(bytes, `image/${declared}`)
          assert.deepInclude(reason, { _tag: "Mislabelled", declared: `image/${declared}`, found: `image/${found}` })
        }
      }
    }))

  it.effect("rejects every other type, whatever is declared", () =>
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

  it.effect("blocks loaders of other types in the whole process", () =>
    Effect.gen(function*() {
      const svg = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`)
      const png = yield* make(() => Images.noise(9, 9).png().toBuffer())
      const exits = yield* Effect.forEach([svg, png], (bytes) =>
        Effect.exit(Effect.tryPromise(() => sharp(bytes).toBuffer())))
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [false, true])
    }))

  it.effect("rejects a signature without content", () =>
    Effect.gen(function*() {
      for (const format of Images.formats) {
        const bytes = yield* make(() => Images.noise(20, 20).toFormat(format).toBuffer())
        for (const length of [12, 16, 24]) {
          assert.strictEqual((yield* reasonOf(bytes.subarray(0, length)))._tag, "Corrupt")
        }
      }
    }))

  it.effect("rejects forged dimensions by the header alone", () =>
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

  it.effect("rejects invalid dimensions", () =>
    Effect.gen(function*() {
      for (const side of [0, 2 ** 31, 2 ** 32 - 1]) {
        assert.strictEqual((yield* reasonOf(Images.hollowPng(side, side, Buffer.alloc(9))))._tag, "Corrupt")
      }
    }))

  it.effect("rejects forged dimensions within the limit if pixels are missing", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* reasonOf(Images.hollowPng(6_000, 6_000, Buffer.alloc(9))))._tag, "Corrupt")
    }))

  for (const name of ["jpeg", "progressive jpeg", "cmyk jpeg"]) {
    it.effect(`rejects half of a ${name} that is followed by an end marker`, () =>
      Effect.gen(function*() {
        const bytes = yield* make(Images.variants[name]!.image)
        for (const kept of [0.25, 0.5, 0.9]) {
          const half = Buffer.concat([bytes.subarray(0, Math.floor(bytes.length * kept)), Images.jpegEnd])
          assert.strictEqual((yield* reasonOf(half))._tag, "Corrupt", `${kept} of the file`)
        }
      }))
  }

  it.effect("rejects a JPEG of a few hundred bytes that declares 6300 x 6300 pixels", () =>
    Effect.gen(function*() {
      const small = yield* make(() => Images.noise(8, 8).greyscale().jpeg({ quality: 20 }).toBuffer())
      assert.isBelow(small.length, 500)
      const reason = yield* reasonOf(Images.resizedJpegHeader(small, 6_300, 6_300))
      assert.strictEqual(reason._tag, "Corrupt")
    }))

  for (const [name, image] of Object.entries(Images.odd)) {
    it.effect(`accepts a ${name}`, () =>
      Effect.gen(function*() {
        const { normalise, preview } = yield* Media.Media
        const bytes = yield* make(image)
        for (const made of [yield* normalise(bytes), yield* preview(bytes)]) {
          assert.deepInclude(made, { width: 61, height: 37 })
        }
      }))
  }

  it.effect("accepts 40 megapixels and not one row more", () =>
    Effect.gen(function*() {
      const { normalise } = yield* Media.Media
      const sides = { width: 8_000, height: 5_000 }
      const bytes = yield* make(() =>
        sharp({ create: { ...sides, channels: 3, background: "teal" } }).jpeg().toBuffer()
      )
      assert.deepInclude(yield* normalise(bytes), sides)
      assert.strictEqual((yield* reasonOf(Images.resizedJpegHeader(bytes, 8_000, 5_001)))._tag, "TooManyPixels")
    }))

  it.effect("limits the long side of previews and thumbs", () =>
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
        const bytes = yield* make(() =>
          Images.noise(width as number, height as number).png({ compressionLevel: 0 }).toBuffer()
        )
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

  it.effect("applies the orientation, returns the resulting dimensions, and drops metadata", () =>
    Effect.gen(function*() {
      const { normalise, preview } = yield* Media.Media
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
      for (const made of [yield* normalise(bytes), yield* preview(bytes)]) {
        assert.deepInclude(made, { width: 30, height: 60 })
        const found = yield* Effect.promise(() => sharp(made.bytes).metadata())
        assert.deepStrictEqual([found.width, found.height, found.space], [30, 60, "srgb"])
        for (const part of ["exif", "icc", "iptc", "xmp", "orientation"] as const) assert.isUndefined(found[part])
      }
    }))

  it.effect("applies every orientation", () =>
    Effect.gen(function*() {
      const { normalise } = yield* Media.Media
      const upright = yield* make(() => Images.quarters("red", "lime", "blue", "white").png().toBuffer())
      const pixels = (bytes: Uint8Array) => Effect.promise(() => sharp(bytes).removeAlpha().raw().toBuffer())
      for (let orientation = 1; orientation <= 8; orientation++) {
        const bytes = yield* make(() => Images.turnedBack(upright, orientation))
        const normal = yield* normalise(bytes)
        assert.deepInclude(normal, { mime: "image/png", width: 32, height: 20 }, `orientation ${orientation}`)
        assert.deepStrictEqual(yield* pixels(normal.bytes), yield* pixels(upright), `orientation ${orientation}`)
      }
    }))

  it.effect("converts profiles and CMYK to sRGB", () =>
    Effect.gen(function*() {
      const { normalise } = yield* Media.Media
      const color = { r: 170, g: 110, b: 90 }
      const plain = sharp({ create: { width: 40, height: 40, channels: 3, background: color } })
      const p3 = plain.clone().withIccProfile("p3")
      // The CMYK that libvips writes is only approximately the same colour.
      const sources: ReadonlyArray<readonly [image: () => Promise<Buffer>, tolerance: number]> = [
        [() => p3.clone().jpeg({ quality: 100 }).toBuffer(), 2],
        [() => p3.clone().png().toBuffer(), 2],
        [() => plain.clone().toColourspace("cmyk").withIccProfile("cmyk").jpeg({ quality: 100 }).toBuffer(), 16]
      ]
      for (const [image, tolerance] of sources) {
        const normal = yield* normalise(yield* make(image))
        const { channels } = yield* Effect.promise(() => sharp(normal.bytes).stats())
        assert.lengthOf(channels, 3)
        for (const [index, expected] of [color.r, color.g, color.b].entries()) {
          assert.approximately(channels[index]?.mean ?? 0, expected, tolerance)
        }
      }
    }))

  it.effect("keeps transparency", () =>
    Effect.gen(function*() {
      const { normalise, thumb } = yield* Media.Media
      const background = { r: 200, g: 0, b: 0, alpha: 0.5 }
      const bytes = yield* make(() =>
        sharp({ create: { width: 40, height: 40, channels: 4, background } }).png().toBuffer()
      )
      for (const made of [yield* normalise(bytes), yield* thumb(bytes)]) {
        assert.isTrue((yield* Effect.promise(() => sharp(made.bytes).metadata())).hasAlpha)
      }
    }))

  it.effect("rejects an incomplete image as source of a preview", () =>
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

  it.effect("rejects a PNG with any byte changed", () =>
    Effect.gen(function*() {
      const bytes = yield* make(() => Images.noise(300, 200).png().toBuffer())
      for (let i = 0; i < 40; i++) {
        const damaged = Buffer.from(bytes)
        const place = 8 + Math.floor((bytes.length - 9) * i / 39)
        damaged.writeUInt8(damaged.readUInt8(place) ^ 0x10, place)
        assert.strictEqual((yield* reasonOf(damaged))._tag, "Corrupt", `byte ${place} of ${bytes.length}`)
      }
    }))

  it.effect("rejects an animation as input, and previews its first frame", () =>
    Effect.gen(function*() {
      const { preview } = yield* Media.Media
      const frame = (background: string) =>
        make(() => sharp({ create: { width: 30, height: 20, channels: 3, background } }).png().toBuffer())
      const frames = [yield* frame("red"), yield* frame("blue")]
      const bytes = yield* make(() => sharp(frames, { join: { animated: true } }).webp().toBuffer())
      assert.deepInclude(yield* reasonOf(bytes), { _tag: "Animated", frames: 2 })
      const small = yield* preview(bytes)
      assert.deepInclude(small, { width: 30, height: 20 })
      const { channels: [red, , blue] } = yield* Effect.promise(() => sharp(small.bytes).stats())
      assert.isTrue(red!.mean > 200 && blue!.mean < 50)
    }))

  it.effect("accepts an image eight times as long as wide, and no longer one", () =>
    Effect.gen(function*() {
      const { normalise } = yield* Media.Media
      const create = (width: number, height: number) => make(() => Images.noise(width, height).png().toBuffer())
      assert.deepInclude(yield* normalise(yield* create(20, 160)), { width: 20, height: 160 })
      assert.deepInclude(yield* reasonOf(yield* create(161, 20)), { _tag: "TooNarrow", width: 161, height: 20 })
      assert.deepInclude(yield* normalise(yield* create(1, 1)), { width: 1, height: 1 })
    }))

  it.effect("rejects a JPEG of only markers immediately", () =>
    Effect.gen(function*() {
      const bytes = Buffer.alloc(10_000_000, 0xff)
      bytes.writeUInt8(0xd8, 1)
      assert.strictEqual((yield* reasonOf(bytes))._tag, "Corrupt")
    }))

  it.effect("drops everything of a file but its pixels", () =>
    Effect.gen(function*() {
      const { normalise, preview } = yield* Media.Media
      const html = Buffer.from("<script>alert(1)</script>")
      const zip = Buffer.from("PK\x05\x06" + "\0".repeat(18), "latin1")
      const sources = yield* Effect.forEach(Images.formats, (format) =>
        make(() => Images.noise(20, 20).toFormat(format).toBuffer()))
      const [png = Buffer.alloc(0), jpeg = Buffer.alloc(0)] = sources
      const hostile = [
        ...sources.flatMap((bytes) => [Buffer.concat([bytes, html]), Buffer.concat([bytes, zip, html])]),
        Images.withPngChunk(png, "tEXt", Buffer.concat([Buffer.from("Comment\0"), html])),
        Images.withPngChunk(
          png,
          "zTXt",
          Buffer.concat([Buffer.from("Comment\0\0"), deflateSync(Buffer.alloc(30_000_000))])
        ),
        Images.withJpegComment(jpeg, Buffer.concat([Buffer.from("*/=1;"), html]))
      ]
      for (const bytes of hostile) {
        for (const made of [yield* normalise(bytes), yield* preview(bytes)]) {
          assert.deepInclude(made, { width: 20, height: 20 })
          assert.isFalse(Buffer.from(made.bytes).includes(html))
          assert.isBelow(made.bytes.length, 3_000)
        }
      }
    }))

  it.effect("rejects files that begin like another type, whatever follows", () =>
    Effect.gen(function*() {
      const png = yield* make(() => Images.noise(20, 20).png().toBuffer())
      const polyglots = ["GIF89a/*", "%PDF-1.7\n", "<!DOCTYPE html>", "BM", "PK\x03\x04", "\ufeff", "\n"]
      for (const head of polyglots) {
        const bytes = Buffer.concat([Buffer.from(head), png])
        assert.strictEqual((yield* reasonOf(bytes, "image/png"))._tag, "UnsupportedFormat", head)
      }
    }))

  it.effect("accepts a declared type in any letter case", () =>
    Effect.gen(function*() {
      const { normalise } = yield* Media.Media
      const bytes = yield* make(() => Images.noise(20, 20).png().toBuffer())
      assert.strictEqual((yield* normalise(bytes, { declared: "Image/PNG" })).mime, "image/png")
    }))

  it.effect("reads bytes in the middle of a larger buffer", () =>
    Effect.gen(function*() {
      const { normalise } = yield* Media.Media
      const bytes = yield* make(() => Images.noise(20, 10).png().toBuffer())
      const larger = new Uint8Array(bytes.length + 20)
      larger.set(bytes, 7)
      assert.deepInclude(yield* normalise(larger.subarray(7, 7 + bytes.length)), { width: 20, height: 10 })
    }))

  it.effect("does not block the event loop", () =>
    Effect.gen(function*() {
      const { normalise } = yield* Media.Media
      const bytes = yield* make(() => Images.noise(1_200, 800).webp({ effort: 0 }).toBuffer())
      const fiber = yield* Effect.forkChild(normalise(bytes), { startImmediately: true })
      let turns = 0
      while (fiber.pollUnsafe() === undefined) {
        yield* Effect.promise(() => setImmediate())
        turns++
      }
      yield* Fiber.join(fiber)
      assert.isAbove(turns, 10)
    }))
})
