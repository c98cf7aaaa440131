import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as Media from "../src/Media.ts"
import type { MediaFile } from "../src/MediaFile.ts"
import * as Images from "./Images.ts"
import { make } from "./Reading.ts"
import * as Videos from "./Videos.ts"

const fileOf = (bytes: Uint8Array): MediaFile<never> => ({
  bytes: bytes.length,
  read: (start, length) => Effect.sync(() => bytes.subarray(start, start + length))
})

const probe = (bytes: Uint8Array, declared: string) => Media.Media.use(({ probe }) => probe(fileOf(bytes), declared))

const reasonOf = (bytes: Uint8Array, declared: string) =>
  Effect.map(Effect.flip(probe(bytes, declared)), ({ reason }) => reason)

const video = { kind: "video", width: 16, height: 16 } as const
const videos = [
  [Videos.mp4, { ...video, mime: "video/mp4", codec: "h264", duration: Duration.seconds(1) }],
  [Videos.webm, { ...video, mime: "video/webm", codec: "vp8", duration: Duration.seconds(1) }],
  [Videos.liveWebm, { ...video, mime: "video/webm", codec: "vp9", duration: Duration.zero }]
] as const

layer(Media.layer())("Media.probe", (it) => {
  it.effect("returns codec, dimensions and duration of a video", () =>
    Effect.gen(function*() {
      for (const [bytes, facts] of videos) assert.deepStrictEqual(yield* probe(bytes, facts.mime), facts)
    }))

  it.effect("rejects a video that is cut anywhere", () =>
    Effect.gen(function*() {
      for (const [bytes, { mime }] of videos.slice(0, 2)) {
        for (let length = 12; length < bytes.length; length += 7) {
          assert.strictEqual((yield* reasonOf(bytes.subarray(0, length), mime))._tag, "Malformed", `${length}`)
        }
        assert.strictEqual((yield* reasonOf(bytes.subarray(0, bytes.length - 1), mime))._tag, "Malformed")
      }
    }))

  for (const [name, { format, image }] of Object.entries(Images.variants)) {
    it.effect(`returns the dimensions of a ${name}, and rejects it without its end`, () =>
      Effect.gen(function*() {
        const bytes = yield* make(image)
        const mime = `image/${format}` as const
        assert.deepStrictEqual(yield* probe(bytes, mime.toUpperCase()), {
          kind: "image",
          mime,
          width: 300,
          height: 200
        })
        for (const cut of [1, 200, bytes.length >> 1]) {
          assert.strictEqual((yield* reasonOf(bytes.subarray(0, bytes.length - cut), mime))._tag, "Malformed")
        }
      }))
  }

  it.effect("returns the dimensions of a WebP with transparency", () =>
    Effect.gen(function*() {
      const background = { r: 9, g: 0, b: 0, alpha: 0.5 }
      const bytes = yield* make(() =>
        Images.noise(300, 200).composite([
          { input: { create: { width: 9, height: 9, channels: 4, background } }, blend: "dest-out" }
        ]).webp().toBuffer()
      )
      assert.strictEqual(bytes.toString("latin1", 12, 16), "VP8X")
      assert.deepInclude(yield* probe(bytes, "image/webp"), { width: 300, height: 200 })
    }))

  it.effect("rejects a file that is declared as another type", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* reasonOf(Videos.mp4, "image/png"), { _tag: "ContentMismatch", found: "video/mp4" })
      assert.deepInclude(yield* reasonOf(Videos.webm, "video/mp4"), { _tag: "ContentMismatch", found: "video/webm" })
    }))

  it.effect("rejects every other type", () =>
    Effect.gen(function*() {
      for (
        const text of ["<html>an error of a proxy</html>", "#EXTM3U\nfile:///etc/passwd", "GIF89a", "%PDF-1.7", ""]
      ) {
        assert.strictEqual((yield* reasonOf(Buffer.from(text), "video/mp4"))._tag, "UnknownFormat", text)
      }
    }))

  it.effect("rejects an MP4 without frames, without a picture, or with samples that are not in the file", () =>
    Effect.gen(function*() {
      const moov = Videos.mp4.subarray(41)
      const hostile = {
        "only a type": Videos.mp4.subarray(0, 24),
        "no movie": Videos.mp4.subarray(0, 41),
        "no media data": Buffer.concat([Videos.mp4.subarray(0, 24), moov]),
        "a large sample": Videos.patched("stsz", 12, 2 ** 31),
        "a chunk after the end": Videos.patched("stco", 8, Videos.mp4.length),
        "no samples": Videos.patched("stsz", 8, 0),
        "no video track": Videos.patched("hdlr", 8, 0x736f756e),
        "no size": Videos.patched("avc1", 24, 0),
        "a box that ends after its parent": Videos.patched("moov", -8, 2 ** 31),
        "a box that is shorter than its header": Videos.patched("moov", -8, 3),
        "trailing bytes": Buffer.concat([Videos.mp4, Buffer.from("text")])
      }
      for (const [what, bytes] of Object.entries(hostile)) {
        assert.strictEqual((yield* reasonOf(bytes, "video/mp4"))._tag, "Malformed", what)
      }
    }))

  it.effect("rejects nested boxes and endless small ones in bounded time", () =>
    Effect.gen(function*() {
      let nested: Buffer = Buffer.alloc(0)
      for (let depth = 0; depth < 1_000; depth++) nested = Videos.box("moov", nested)
      const nestedFile = Buffer.concat([Videos.mp4.subarray(0, 24), nested])
      assert.strictEqual((yield* reasonOf(nestedFile, "video/mp4"))._tag, "Malformed")
      const small = Buffer.alloc(1_600_000, Videos.box("free", Buffer.alloc(0)))
      const smallFile = Buffer.concat([Videos.mp4.subarray(0, 24), small])
      assert.deepInclude(yield* reasonOf(smallFile, "video/mp4"), { _tag: "LimitExceeded", limit: "readsMax" })
    }))

  it.effect("rejects a codec that browsers do not play", () =>
    Effect.gen(function*() {
      const bytes = Videos.patched("avc1", -4, Buffer.from("mp4v").readUInt32BE())
      assert.deepInclude(yield* reasonOf(bytes, "video/mp4"), { _tag: "UnsupportedCodec", codec: "mp4v" })
    }))

  it.effect("does not read the media data", () =>
    Effect.gen(function*() {
      const { probe } = yield* Media.Media
      const head = Videos.mp4.subarray(0, 24)
      const size = 1_000_000_000
      const moov = Buffer.from(Videos.mp4.subarray(41))
      const long = Buffer.alloc(8)
      long.writeUInt32BE(size)
      long.write("mdat", 4)
      const tail = head.length + size
      let bytesRead = 0
      const file: MediaFile<never> = {
        bytes: tail + moov.length,
        read: (start, length) =>
          Effect.sync(() => {
            bytesRead += length
            const part = Buffer.alloc(length)
            for (const [piece, at] of [[head, 0], [long, head.length], [moov, tail]] as const) {
              const from = Math.max(0, start - at)
              if (at < start + length) piece.copy(part, Math.max(0, at - start), Math.min(from, piece.length))
            }
            return part
          })
      }
      assert.deepInclude(yield* probe(file, "video/mp4"), video)
      assert.isBelow(bytesRead, 100_000)
    }))

  it.effect("fails with the error of a read", () =>
    Effect.gen(function*() {
      const { probe } = yield* Media.Media
      const error = yield* Effect.flip(
        probe({ bytes: 100, read: () => Effect.fail("unavailable" as const) }, "video/mp4")
      )
      assert.strictEqual(error, "unavailable")
    }))
})

layer(Media.layer({ probe: { bytesMax: 10_000, sideMax: 50, pixelsMax: 300, durationMax: "1 second", tracksMax: 1 } }))(
  "Media.probe with limits",
  (it) => {
    it.effect("rejects a file above one of them", () =>
      Effect.gen(function*() {
        const png = (width: number, height: number) => make(() => Images.noise(width, height).png().toBuffer())
        const second = Buffer.concat([Videos.mp4, Videos.box("trak", Buffer.alloc(0))])
        const exceeded = [
          [Buffer.concat([Videos.mp4, Videos.box("free", Buffer.alloc(10_000))]), "video/mp4", "bytesMax"],
          [Videos.patched("mdhd", 16, 90_001), "video/mp4", "durationMax"],
          [second, "video/mp4", "tracksMax"],
          [yield* png(51, 5), "image/png", "sideMax"],
          [yield* png(20, 20), "image/png", "pixelsMax"]
        ] as const
        for (const [bytes, mime, limit] of exceeded) {
          assert.deepInclude(yield* reasonOf(bytes, mime), { _tag: "LimitExceeded", limit })
        }
        assert.deepInclude(yield* probe(Videos.mp4, "video/mp4"), video)
      }))
  }
)
