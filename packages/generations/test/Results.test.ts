import { assert, layer } from "@effect/vitest"
import { Media } from "@kinora/media"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { layerMemoryWith } from "./Assembly.ts"
import { bytesOf, mp4, png } from "./Pictures.ts"
import { returned, runAll, suite } from "./ResultsContract.ts"

suite("memory", layerMemoryWith({}, Media.layer()))

/** Media that extracts this frame from every video. */
const mediaWithFrame = (frame: Uint8Array) =>
  Layer.effect(
    Media.Media,
    Effect.map(Media.make({}), (media) => Media.Media.of({ ...media, firstFrame: () => Effect.succeedSome(frame) }))
  )

const withoutPoster = { ...returned("video/mp4", bytesOf(mp4)), poster: undefined }

layer(layerMemoryWith({}, mediaWithFrame(bytesOf(png))))("A video without a poster", (it) => {
  it.effect("has its first frame as poster and thumb", () =>
    Effect.gen(function*() {
      const [job] = yield* runAll([["video-1", withoutPoster]])
      assert.deepStrictEqual([job?.output?.poster?.mime, job?.output?.thumb?.mime], ["image/webp", "image/webp"])
    }).pipe(TestClock.withLive))
})

layer(layerMemoryWith({}, Media.layer({ frame: { program: "/nowhere/ffmpeg" } })))("A video without a poster", (it) => {
  it.effect("has none where ffmpeg is not installed", () =>
    Effect.gen(function*() {
      const [job] = yield* runAll([["video-1", withoutPoster]])
      assert.strictEqual(job?.status, "completed")
      assert.deepInclude(job?.output, { poster: null, thumb: null })
    }).pipe(TestClock.withLive))
})
