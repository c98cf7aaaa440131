/** Verification of results: what a generator may return, and what fails a job. */
import { assert, layer } from "@effect/vitest"
import { ScriptedGenerator } from "@kinora/generator"
import { Ledger } from "@kinora/ledger"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { BlobStore } from "@kinora/storage"
import { DateTime, Effect, Exit, type Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { GenerationId } from "../src/Generation.ts"
import { Generations } from "../src/Generations.ts"
import { keyOf } from "../src/internal/run/resultFiles.ts"
import { type layerMemory, openAccount, request, startWorker } from "./Assembly.ts"
import { bytesOf, jpeg, mp4, png } from "./Pictures.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

type Output = NonNullable<ScriptedGenerator.Script["output"]>

type WorkerOptions = Parameters<typeof startWorker>[1]

const credits = 100

const image = bytesOf(png)
const video = bytesOf(mp4)

/** An output with these bytes. */
export const returned = (mime: string, bytes: Uint8Array): Output => ({ mime, body: Stream.succeed(bytes) })

/** Returns the bytes with the byte at `offset` changed. */
const damaged = (bytes: Uint8Array, offset: number) => bytes.map((byte, at) => at === offset ? byte ^ 0x10 : byte)

const endless = Stream.forever(Stream.succeed(new Uint8Array(1_000)))

/** Results that are not what the model makes, by what they are. */
const invalid: ReadonlyArray<readonly [what: string, model: string, output: Output]> = [
  ["an image without its end", "kinora-still", returned("image/png", image.slice(0, -1))],
  ["half of an image", "kinora-still", returned("image/png", image.slice(0, image.length >> 1))],
  ["an image with a damaged pixel", "kinora-still", returned("image/png", damaged(image, image.length - 20))],
  ["a page declared as an image", "kinora-still", returned("image/png", Buffer.from("<html></html>"))],
  ["a page", "kinora-still", returned("text/html", Buffer.from("<html></html>"))],
  ["nothing", "kinora-still", returned("image/png", new Uint8Array(0))],
  ["a video from a model of images", "kinora-still", returned("video/mp4", video)],
  ["an endless body", "kinora-still", { body: endless }],
  ["a video without its end", "video-1", returned("video/mp4", video.slice(0, -1))],
  ["half of a video", "video-1", returned("video/mp4", video.slice(0, video.length >> 1))],
  ["a video of only a type", "video-1", returned("video/mp4", video.slice(0, 24))],
  ["an image from a model of videos", "video-1", returned("image/png", image)]
]

/** Creates a job whose generator returns this output. */
const create = Effect.fnUntraced(function*(model: string, output: Output) {
  const { create } = yield* Generations
  const control = yield* ScriptedGenerator.Control
  const account = yield* openAccount({ credits })
  const { generation } = yield* create(yield* request(account, { key: "one", model }))
  yield* control.script(generation.id, { output })
  return generation
})

/** Runs the jobs of these outputs together, and returns each when it has ended. */
export const runAll = Effect.fnUntraced(
  function*(outputs: ReadonlyArray<readonly [model: string, output: Output]>, options: WorkerOptions = {}) {
    const { wait } = yield* Generations
    const created = yield* Effect.forEach(outputs, ([model, output]) => create(model, output))
    yield* startWorker(4, options)
    return yield* Effect.forEach(created, ({ account, id }) => wait(account, id, "60 seconds"))
  },
  Effect.scoped
)

const creditsOf = Effect.fnUntraced(function*(account: string) {
  const { balances } = yield* Ledger.Ledger
  return (yield* balances(account, yield* DateTime.now)).credits
})

/** Returns whether the first attempt of a job has a stored result. */
const hasContent = Effect.fnUntraced(function*(id: GenerationId) {
  const blobs = yield* BlobStore.BlobStore
  return Exit.isSuccess(
    yield* Effect.exit(blobs.head(keyOf({ job: GenerationId.toUuid(id), epoch: 1 }, "content")))
  )
})

export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Results (${name})`, (it) => {
    it.effect("fail and refund the job, and are deleted, if they are not what the model makes", () =>
      Effect.gen(function*() {
        const jobs = yield* runAll(invalid.map(([, ...job]) => job), { resultBytesMax: 100_000 })
        for (const [index, job] of jobs.entries()) {
          const [what] = invalid[index]!
          assert.deepStrictEqual([job.status, job.refunded, job.output], ["failed", true, null], what)
          assert.deepStrictEqual([job.failure?.code, job.failure?.reason], ["upstream_error", "provider"], what)
          assert.strictEqual(yield* creditsOf(job.account), credits, what)
          assert.isFalse(yield* hasContent(job.id), what)
        }
      }).pipe(TestClock.withLive))

    it.effect("complete the job if they are a complete image or video", () =>
      Effect.gen(function*() {
        const jobs = yield* runAll([
          ["kinora-still", returned("image/png", image)],
          ["video-1", returned("video/mp4", video)]
        ])
        assert.deepStrictEqual(jobs.map(({ output }) => output?.content.mime), ["image/png", "video/mp4"])
        for (const job of jobs) assert.isTrue(yield* hasContent(job.id))
      }).pipe(TestClock.withLive))

    it.effect("have the type of their content, whatever the generator declares", () =>
      Effect.gen(function*() {
        const jobs = yield* runAll([
          ["kinora-still", returned("application/octet-stream", image)],
          ["kinora-still", returned("image/png", bytesOf(jpeg))],
          ["kinora-still", returned("text/html", image)],
          ["video-1", returned("application/octet-stream", video)]
        ])
        const mimes = ["image/png", "image/jpeg", "image/png", "video/mp4"]
        assert.deepStrictEqual(jobs.map(({ output }) => output?.content.mime), mimes)
      }).pipe(TestClock.withLive))

    it.effect("need only their end if they are too large to decode, and have no preview", () =>
      Effect.gen(function*() {
        const [whole, truncated] = yield* runAll([
          ["kinora-still", returned("image/png", image)],
          ["kinora-still", returned("image/png", image.slice(0, -1))]
        ], { derivedBytesMax: 10 })
        assert.deepInclude(whole?.output, { preview: null, thumb: null })
        assert.strictEqual(truncated?.failure?.code, "upstream_error")
      }).pipe(TestClock.withLive))
  })
}
