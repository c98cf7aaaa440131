import { assert, layer } from "@effect/vitest"
import { ScriptedGenerator } from "@kinora/generator"
import { Media, MediaError } from "@kinora/media"
import { BlobStore } from "@kinora/storage"
import { Effect, Exit, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { GenerationId } from "../src/Generation.ts"
import { keyOf } from "../src/internal/run/resultFiles.ts"
import { layerMemoryWith } from "./Assembly.ts"
import { bytesOf, mp4, png } from "./Pictures.ts"
import { creditsOf, openTrial, read, run, suite } from "./WatermarkContract.ts"

suite("memory", layerMemoryWith({}, Media.layer()))

const mediaWith = (changes: Partial<Media.Media["Service"]>) =>
  Layer.effect(Media.Media, Effect.map(Media.make({}), (media) => Media.Media.of({ ...media, ...changes })))

const image = bytesOf(png)
const video = bytesOf(mp4)

/** A video with other bytes after its end. */
const markedVideo = Buffer.concat([video, Buffer.from("\0\0\0\x0cfreemark", "latin1")])

const output = (kind: "image" | "video") =>
  kind === "image"
    ? { mime: "image/png", body: Stream.succeed(image) }
    : { mime: "video/mp4", body: Stream.succeed(video), poster: image }

/** Runs a job that cannot be marked, and asserts that it is refunded and that nothing of it can be downloaded. */
const assertUnmarked = Effect.fnUntraced(function*(model: string, kind: "image" | "video") {
  const account = yield* openTrial({ trial: 1_000, plan: 0 })
  const { ended } = yield* run(account, model, output(kind))
  assert.deepInclude(ended, { status: "failed", refunded: true, output: null })
  assert.deepStrictEqual(ended.failure, {
    code: "generation_failed",
    reason: "internal",
    message: "The watermark of the result could not be made. The job was refunded. Try again later."
  })
  assert.deepStrictEqual(yield* creditsOf(account.id), { trial: 1_000 })
  const blobs = yield* BlobStore.BlobStore
  const key = keyOf({ job: GenerationId.toUuid(ended.id), epoch: 1 }, "content")
  assert.isTrue(Exit.isFailure(yield* Effect.exit(blobs.head(key))))
  return ended
})

layer(layerMemoryWith({}, Media.layer({ frame: { program: "/nowhere/ffmpeg" } })))("Without ffmpeg", (it) => {
  it.effect("a video that needs a watermark fails before its generator gets it", () =>
    Effect.gen(function*() {
      const { id } = yield* assertUnmarked("video-1", "video")
      const { calls } = yield* ScriptedGenerator.Control
      assert.isFalse((yield* calls).some((call) => call.id === id))
    }).pipe(TestClock.withLive))
})

layer(layerMemoryWith(
  {},
  mediaWith({
    canWatermarkVideos: Effect.succeed(true),
    watermarkVideo: () =>
      Effect.succeed({ mime: "video/mp4", bytes: markedVideo.length, body: Stream.succeed(markedVideo) }),
    firstFrame: (file) => Effect.succeedSome(file.bytes === markedVideo.length ? image : new Uint8Array(0))
  })
))("With ffmpeg", (it) => {
  it.effect("a video has the watermark, and a poster from the marked video", () =>
    Effect.gen(function*() {
      const account = yield* openTrial({ trial: 1_000, plan: 0 })
      const { ended } = yield* run(account, "video-1", output("video"))
      assert.deepStrictEqual([ended.status, ended.watermark], ["completed", true])
      assert.deepStrictEqual(yield* read(ended.output?.content), new Uint8Array(markedVideo))
      assert.strictEqual(ended.output?.poster?.mime, "image/webp")
    }).pipe(TestClock.withLive))
})

layer(layerMemoryWith(
  {},
  mediaWith({
    watermark: () => Effect.fail(new MediaError.MediaError({ reason: new MediaError.TookTooLong({ secondsMax: 10 }) })),
    canWatermarkVideos: Effect.succeed(true),
    // Half of a video, as after a full disk.
    watermarkVideo: () => Effect.succeed({ mime: "video/mp4", bytes: 300, body: Stream.succeed(video.slice(0, 300)) })
  })
))("A result that cannot be marked", (it) => {
  it.effect("fails the job and is refunded and deleted", () =>
    Effect.gen(function*() {
      yield* assertUnmarked("kinora-still", "image")
      yield* assertUnmarked("video-1", "video")
    }).pipe(TestClock.withLive))
})
