/** Input images and uploads: access, lifetime, and deletion after refused requests. */
import { assert, layer } from "@effect/vitest"
import { ScriptedGenerator } from "@kinora/generator"
import { Ledger } from "@kinora/ledger"
import { Media, MediaError } from "@kinora/media"
import { Moderation } from "@kinora/moderation"
import { type MemoryBackend, UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { BlobStore } from "@kinora/storage"
import { DateTime, Deferred, Duration, Effect, Exit, Fiber, type Layer, Option, type Schema, Stream } from "effect"
import type { Digest } from "effect/crypto"
import { TestClock } from "effect/testing"
import { UploadId } from "../src/Generation.ts"
import { type Failure, Generations, make } from "../src/Generations.ts"
import { GenerationSweep } from "../src/GenerationSweep.ts"
import { ImageStore } from "../src/ImageStore.ts"
import { make as makeUploads, Uploads } from "../src/Uploads.ts"
import { type layerMemory, openAccount, request, startWorker, uploadsMax } from "./Assembly.ts"
import { bytesOf, jpeg, png } from "./Pictures.ts"
import * as Preparations from "./Preparations.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

type Account = Parameters<typeof request>[0]

const price = 8

/** Returns a command for an image with these input images. */
const redraw = Effect.fnUntraced(function*(account: Account, key: string, images: Schema.Json) {
  return yield* request(account, { key, model: "redraw-1", params: { prompt: "a lake", images } })
})

const refusalOf = <A, R>(effect: Effect.Effect<A, Failure, R>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag === "GenerationError" ? error.reason : assert.fail(error._tag))

const creditsOf = Effect.fnUntraced(function*(account: string) {
  const { balances } = yield* Ledger.Ledger
  return (yield* balances(account, yield* DateTime.now)).credits
})

/** The PNG with one changed byte in its pixels. */
const damaged = (png: string): string => {
  const bytes = Buffer.from(png, "base64")
  bytes[bytes.indexOf("IDAT") + "IDAT".length + 2]! ^= 0xff
  return bytes.toString("base64")
}

/** True if the blob exists. */
const isKept = (key: string) =>
  BlobStore.BlobStore.use((blobs) => Effect.map(Effect.exit(blobs.head(key)), Exit.isSuccess))

/** A blob store that records the keys of `put`. */
const noting = Effect.gen(function*() {
  const blobs = yield* BlobStore.BlobStore
  const keys: Array<string> = []
  const store = BlobStore.BlobStore.of({
    ...blobs,
    put: (key, stream, options) =>
      Effect.suspend(() => {
        keys.push(key)
        return blobs.put(key, stream, options)
      })
  })
  return { keys, store }
})

export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Input images (${name})`, (it) => {
    it.effect("reach the generator in order, re-encoded without metadata", () =>
      Effect.gen(function*() {
        const { create, wait } = yield* Generations
        const uploads = yield* Uploads
        const blobs = yield* BlobStore.BlobStore
        const control = yield* ScriptedGenerator.Control
        const account = yield* openAccount({ credits: 100 })
        const upload = yield* uploads.create(account.id, bytesOf(png), "image/png")
        const { generation } = yield* create(
          yield* redraw(account, "both", [{ data: `data:image/jpeg;base64,${jpeg}` }, { upload_id: upload.id }])
        )
        assert.strictEqual(generation.mode, "image_to_image")
        assert.deepStrictEqual(
          generation.images.map(({ height, index, mime, width }) => [index, mime, width, height]),
          [[0, "image/jpeg", 4, 2], [1, "image/png", 3, 2]]
        )
        yield* control.succeed(generation.id)
        yield* Effect.scoped(Effect.andThen(startWorker(), wait(account.id, generation.id, "60 seconds")))
        assert.deepStrictEqual(
          yield* control.images(generation.id),
          generation.images.map(({ bytes, height, mime, width }) => ({ bytes, height, mime, width }))
        )
        const kept = yield* Stream.mkUint8Array(blobs.get(generation.images[0]!.key))
        assert.notInclude(new TextDecoder("latin1").decode(kept), "nobody")
        assert.include(new TextDecoder("latin1").decode(bytesOf(jpeg)), "nobody")
      }))

    it.effect("are refused with their index, without a charge or a stored blob", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 100 })
        const { keys, store } = yield* noting
        const { create } = yield* Effect.provideService(make({}), BlobStore.BlobStore, store)
        const refused = (images: Schema.Json) =>
          Effect.flatMap(redraw(account, "key", images), (command) => refusalOf(create(command)))
        const truncated = { data: png.slice(0, 80) }
        for (const bad of [truncated, { data: png, mime: "image/webp" }, { data: "AAAA" }, { upload: "x" }]) {
          assert.deepInclude(yield* refused([{ data: png }, bad]), { _tag: "InvalidImage", index: 1 })
        }
        const unknown = { upload_id: "upl_01jd0000000000000000000000" }
        assert.deepInclude(yield* refused([{ data: png }, unknown]), { _tag: "UploadNotFound", index: 1 })
        assert.strictEqual((yield* refused([{ data: png }, { data: png }, { data: "?" }]))._tag, "InvalidParams")
        assert.isEmpty(keys)
        // Only decoding finds damage behind the header, when the first image is stored already.
        assert.deepInclude(yield* refused([{ data: png }, { data: damaged(png) }]), { _tag: "InvalidImage", index: 1 })
        assert.isNotEmpty(keys)
        for (const key of keys) assert.isFalse(yield* isKept(key))
        assert.strictEqual(yield* creditsOf(account.id), 100)
        // The same key can be used again.
        assert.isFalse((yield* create(yield* redraw(account, "key", [{ data: png }]))).replayed)
      }))

    it.effect("are deleted immediately if the request is refused or replayed", () =>
      Effect.gen(function*() {
        const { keys, store } = yield* noting
        const { create } = yield* Effect.provideService(make({}), BlobStore.BlobStore, store)
        const poor = yield* openAccount({ credits: price - 1 })
        const refusal = yield* refusalOf(create(yield* redraw(poor, "poor", [{ data: png }])))
        assert.strictEqual(refusal._tag, "InsufficientCredits")

        const rich = yield* openAccount({ credits: 100 })
        const command = yield* redraw(rich, "same", [{ data: png }])
        const made = yield* Effect.forEach([1, 2, 3], () => create(command), { concurrency: "unbounded" })
        const [image] = made[0]!.generation.images
        assert.strictEqual(new Set(made.map(({ generation }) => generation.id)).size, 1)
        const kept = yield* Effect.filter(keys, isKept)
        assert.deepStrictEqual(kept, [image!.key])
      }))

    it.effect("are neither decoded nor moderated if the job is refused for its price, its quota or a full queue", () =>
      Effect.gen(function*() {
        const media = yield* Media.Media
        let decodes = 0
        let moderations = 0
        const { create } = yield* make({}).pipe(
          Effect.provideService(Media.Media, {
            ...media,
            normalise: (bytes, options) => Effect.suspend(() => (decodes++, media.normalise(bytes, options)))
          }),
          Effect.provideService(Moderation.Moderation, {
            ...Moderation.none,
            checkInput: () => Effect.sync(() => (moderations++, Moderation.accepted))
          })
        )
        const images = [{ data: png }]
        const poor = yield* openAccount({ credits: price - 1 })
        const rich = yield* openAccount({ credits: 10_000 })
        const idle: Account = { ...rich, plans: { ...rich.plans, studio: Option.none() } }
        const withImages = yield* redraw(rich, "key", images)
        const refusals = [
          [{ ...withImages, model: "unknown-1" }, "ModelNotFound"],
          [{ ...withImages, model: "paused-1" }, "ModelUnavailable"],
          [{ ...withImages, account: idle, plan: "studio" }, "PlanInactive"],
          [yield* redraw(rich, "key", [...images, ...images, ...images]), "InvalidParams"],
          [yield* redraw(poor, "key", images), "InsufficientCredits"],
          [yield* request(poor, { key: "text" }), "InsufficientCredits"]
        ] as const
        for (const [command, expected] of refusals) {
          assert.strictEqual((yield* refusalOf(create(command)))._tag, expected)
        }
        assert.deepStrictEqual([decodes, moderations], [0, 0])

        const first = yield* create(withImages)
        assert.deepStrictEqual([decodes, moderations], [1, 1])
        // Fills the slots and then the queue.
        const { create: createText } = yield* Generations
        const fill = (index: number): Effect.Effect<unknown, Failure, Digest.Digest> =>
          Effect.matchEffect(Effect.flatMap(request(rich, { key: `fill ${index}` }), createText), {
            onFailure: (error) => Effect.succeed(error),
            onSuccess: () => fill(index + 1)
          })
        yield* fill(0)
        assert.strictEqual((yield* refusalOf(create(yield* redraw(rich, "late", images))))._tag, "QueueFull")
        // A request that created a job is replayed, whatever is left.
        const again = yield* create(withImages)
        assert.deepStrictEqual([again.replayed, again.generation.id], [true, first.generation.id])
        assert.deepStrictEqual([decodes, moderations], [1, 1])
        // The tests of this file share a queue.
        const { cancel, list } = yield* Generations
        const { generations } = yield* list(rich.id, { limit: 100 })
        for (const { id } of generations) yield* cancel(rich.id, id)
      }))

    it.effect("are decoded for accounts in turn, so that a busy account does not delay others", () =>
      Effect.gen(function*() {
        const media = yield* Media.Media
        const read: Array<string> = []
        const entered = yield* Deferred.make<void>()
        const goOn = yield* Deferred.make<void>()
        const { following, reached } = yield* Preparations.follow(5)
        const { create } = yield* Effect.provideService(make({ imageRequestsMax: 1 }), Media.Media, {
          ...media,
          normalise: (bytes, options) =>
            Effect.suspend(() => {
              read.push(bytes[0] === bytesOf(jpeg)[0] ? "other" : "busy")
              return Deferred.succeed(entered, undefined)
            }).pipe(Effect.andThen(Deferred.await(goOn)), Effect.andThen(media.normalise(bytes, options)))
        })
        const send = Effect.fnUntraced(function*(account: Account, key: string, data: string) {
          const command = yield* redraw(account, key, [{ data }])
          return yield* Effect.forkChild(following(create(command)), { startImmediately: true })
        })
        const busy = yield* openAccount({ credits: 100 })
        const other = yield* openAccount({ credits: 100 })
        const first = yield* send(busy, "1", png)
        yield* Deferred.await(entered)
        const later = yield* Effect.forEach(["2", "3", "4"], (key) => send(busy, key, png))
        const last = yield* send(other, "1", jpeg)
        yield* reached
        yield* Deferred.succeed(goOn, undefined)
        yield* Effect.forEach([first, ...later, last], Fiber.join)
        assert.strictEqual(read.length, 5)
        assert.isBelow(read.indexOf("other"), 3, read.join())
      }))

    it.effect("are refused before they are decoded, if the account has too few pixels left in this minute", () =>
      Effect.gen(function*() {
        const media = yield* Media.Media
        let decodes = 0
        const counting = Media.Media.of({
          ...media,
          normalise: (bytes, options) => Effect.suspend(() => (decodes++, media.normalise(bytes, options)))
        })
        // The PNG has 6 pixels and the JPEG 8.
        const options = { inputPixelsPerMinute: 20 }
        const { create } = yield* Effect.provideService(make(options), Media.Media, counting)
        const uploads = yield* Effect.provideService(makeUploads(options), Media.Media, counting)
        const account = yield* openAccount({ credits: 1_000 })
        const upload = yield* uploads.create(account.id, bytesOf(png), undefined)
        yield* create(yield* redraw(account, "fits", [{ data: jpeg }, { upload_id: upload.id }]))
        assert.strictEqual(decodes, 2)

        const both = yield* redraw(account, "both", [{ data: png }, { data: jpeg }])
        const refusal = yield* refusalOf(create(both))
        assert.deepInclude(refusal, { _tag: "InputPixelsExceeded", perMinute: 20 })
        assert.isAtMost(refusal._tag === "InputPixelsExceeded" ? Duration.toSeconds(refusal.retryAfter) : Infinity, 60)
        const late = yield* Effect.flip(uploads.create(account.id, bytesOf(jpeg), undefined))
        assert.strictEqual(late._tag === "UploadError" ? late.reason._tag : late._tag, "InputPixelsExceeded")
        assert.strictEqual(decodes, 2)

        // A refused image does not count, and each account has its own limit.
        yield* create(yield* redraw(account, "last", [{ data: png }]))
        const other = yield* openAccount({ credits: 100 })
        yield* create(yield* redraw(other, "both", [{ data: png }, { data: jpeg }]))
        yield* TestClock.adjust("1 minute")
        yield* create(both)
      }))

    it.effect("count again with each job that uses an upload, if the moderation can read them", () =>
      Effect.gen(function*() {
        const { create } = yield* Effect.provideService(make({ inputPixelsPerMinute: 8 }), Moderation.Moderation, {
          ...Moderation.none
        })
        const uploads = yield* Uploads
        const account = yield* openAccount({ credits: 100 })
        const { id } = yield* uploads.create(account.id, bytesOf(png), undefined)
        yield* TestClock.adjust("1 minute")
        yield* create(yield* redraw(account, "first", [{ upload_id: id }]))
        const refusal = yield* refusalOf(create(yield* redraw(account, "second", [{ upload_id: id }])))
        assert.strictEqual(refusal._tag, "InputPixelsExceeded")
      }))

    it.effect("are kept as long as the job may wait and run, and then deleted", () =>
      Effect.gen(function*() {
        const { create } = yield* Generations
        const { dropImages } = yield* GenerationSweep
        const account = yield* openAccount({ credits: 100 })
        const { generation } = yield* create(yield* redraw(account, "stays", [{ data: png }]))
        const [image] = generation.images
        yield* TestClock.adjust("25 hours")
        yield* dropImages(1_000)
        assert.isTrue(yield* isKept(image!.key))
        yield* TestClock.adjust("5 minutes")
        assert.isAtLeast(yield* dropImages(1_000), 1)
        assert.isFalse(yield* isKept(image!.key))
        assert.deepStrictEqual((yield* (yield* Generations).get(account.id, generation.id)).images, [image!])
      }))

    it.effect("that are missing when the job starts fail it with invalid_input and a refund", () =>
      Effect.gen(function*() {
        const { create, wait } = yield* Generations
        const blobs = yield* BlobStore.BlobStore
        const account = yield* openAccount({ credits: 100 })
        const { generation } = yield* create(yield* redraw(account, "gone", [{ data: png }]))
        yield* blobs.delete(generation.images.map(({ key }) => key))
        const failed = yield* Effect.scoped(
          Effect.andThen(startWorker(), wait(account.id, generation.id, "60 seconds"))
        )
        assert.deepStrictEqual([failed.status, failed.failure?.code, failed.refunded], [
          "failed",
          "invalid_input",
          true
        ])
      }))
  })

  layer(services)(`Uploads (${name})`, (it) => {
    it.effect("can be used any number of times for 24 hours, only by their account", () =>
      Effect.gen(function*() {
        const { create } = yield* Generations
        const uploads = yield* Uploads
        const { dropImages } = yield* GenerationSweep
        const [account, other] = [yield* openAccount({ credits: 100 }), yield* openAccount({ credits: 100 })]
        const at = yield* DateTime.now
        const upload = yield* uploads.create(account.id, bytesOf(jpeg), undefined)
        const key = `images/${UploadId.toUuid(upload.id)}`
        assert.deepInclude(upload, { mime: "image/jpeg", width: 4, height: 2 })
        assert.deepStrictEqual(upload.expiresAt, DateTime.add(at, { hours: 24 }))
        const images = [{ upload_id: upload.id }, { upload_id: upload.id, mime: "IMAGE/JPEG" }]
        yield* create(yield* redraw(account, "twice", images))
        assert.strictEqual(
          (yield* refusalOf(create(yield* redraw(other, "not mine", images))))._tag,
          "UploadNotFound"
        )
        const mislabelled = yield* refusalOf(
          create(yield* redraw(account, "other type", [{ upload_id: upload.id, mime: "image/png" }]))
        )
        assert.deepInclude(mislabelled, { _tag: "InvalidImage", index: 0 })

        yield* TestClock.adjust("23 hours")
        yield* create(yield* redraw(account, "again", images))
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(
          (yield* refusalOf(create(yield* redraw(account, "too late", images))))._tag,
          "UploadNotFound"
        )
        // The last job may need it for 25 hours from its creation.
        yield* TestClock.adjust("24 hours")
        yield* dropImages(1_000)
        assert.isTrue(yield* isKept(key))
        yield* TestClock.adjust("10 minutes")
        yield* dropImages(1_000)
        assert.isFalse(yield* isKept(key))
      }))

    it.effect("that are removed cannot be used, and are deleted at once unless a job needs them", () =>
      Effect.gen(function*() {
        const { create } = yield* Generations
        const uploads = yield* Uploads
        const { dropImages } = yield* GenerationSweep
        const account = yield* openAccount({ credits: 100 })
        const other = yield* openAccount({ credits: 100 })
        const [used, unused] = [
          yield* uploads.create(account.id, bytesOf(png), undefined),
          yield* uploads.create(account.id, bytesOf(png), undefined)
        ]
        const keyOf = (id: UploadId) => `images/${UploadId.toUuid(id)}`
        yield* create(yield* redraw(account, "uses it", [{ upload_id: used.id }]))
        for (const [of, id] of [[other.id, used.id], [account.id, "upl_x"], [account.id, "gen_x"]] as const) {
          const error = yield* Effect.flip(uploads.remove(of, id))
          assert.strictEqual(error._tag === "UploadError" && error.reason._tag, "UploadNotFound")
        }
        yield* uploads.remove(account.id, used.id)
        yield* uploads.remove(account.id, unused.id)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(uploads.remove(account.id, used.id))))
        assert.strictEqual(
          (yield* refusalOf(create(yield* redraw(account, "late", [{ upload_id: used.id }]))))._tag,
          "UploadNotFound"
        )
        assert.deepStrictEqual([yield* isKept(keyOf(used.id)), yield* isKept(keyOf(unused.id))], [true, false])
        yield* TestClock.adjust("1 hour")
        yield* dropImages(1_000)
        assert.isTrue(yield* isKept(keyOf(used.id)))
      }))

    it.effect("are limited in number, also when they are sent concurrently", () =>
      Effect.gen(function*() {
        const uploads = yield* Uploads
        const account = yield* openAccount({ credits: 0 })
        const exits = yield* Effect.forEach(
          Array.from({ length: uploadsMax + 3 }),
          () => Effect.exit(uploads.create(account.id, bytesOf(png), undefined)),
          { concurrency: "unbounded" }
        )
        const made = exits.filter(Exit.isSuccess).map(({ value }) => value)
        assert.strictEqual(made.length, uploadsMax)
        yield* uploads.remove(account.id, made[0]!.id)
        yield* uploads.create(account.id, bytesOf(png), undefined)
        const error = yield* Effect.flip(uploads.create(account.id, bytesOf(png), undefined))
        assert.deepInclude(error._tag === "UploadError" && error.reason, { _tag: "TooManyUploads", max: uploadsMax })
      }))

    it.effect("are limited in bytes, of which a removed one gives back its part", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 0 })
        const { bytes } = yield* (yield* Uploads).create(account.id, bytesOf(png), undefined)
        const uploads = yield* makeUploads({ uploadBytesMax: 2 * bytes })
        const { id } = yield* uploads.create(account.id, bytesOf(png), undefined)
        const error = yield* Effect.flip(uploads.create(account.id, bytesOf(png), undefined))
        assert.deepInclude(error._tag === "UploadError" && error.reason, {
          _tag: "TooManyUploadBytes",
          bytesMax: 2 * bytes
        })
        yield* uploads.remove(account.id, id)
        yield* uploads.create(account.id, bytesOf(png), undefined)
      }))

    it.effect("are refused if their stored copies are much longer", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 0 })
        const media = yield* Media.Media
        const input = bytesOf(png)
        const growing = (length: number) =>
          Effect.provideService(makeUploads({ imageBytesMax: input.length }), Media.Media, {
            ...media,
            normalise: (bytes, options) => {
              const bytesMax = options?.resultBytesMax ?? Infinity
              if (length <= bytesMax) return media.normalise(bytes, options)
              return Effect.fail(
                new MediaError.MediaError({ reason: new MediaError.GrewTooLong({ bytes: length, bytesMax }) })
              )
            }
          })
        yield* (yield* growing(4 * input.length)).create(account.id, input, undefined)
        const uploads = yield* growing(4 * input.length + 1)
        const error = yield* Effect.flip(uploads.create(account.id, input, undefined))
        assert.strictEqual(error._tag === "UploadError" && error.reason._tag, "InvalidImage")
        assert.match(JSON.stringify(error), new RegExp(`exceeds ${4 * input.length} bytes when it is stored`))
      }))

    it.effect.each([
      new MediaError.TookTooLong({ secondsMax: 20 }),
      new MediaError.DecoderFailed({ cause: new Error("Killed") })
    ])("that are not decoded are refused, and leave nothing: $_tag", (reason) =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: price })
        const media = yield* Media.Media
        const slow = Effect.provideService(Media.Media, {
          ...media,
          normalise: () => Effect.fail(new MediaError.MediaError({ reason }))
        })
        const uploads = yield* slow(makeUploads({}))
        const error = yield* Effect.flip(uploads.create(account.id, bytesOf(png), undefined))
        assert.strictEqual(error._tag === "UploadError" && error.reason._tag, "ImageTimedOut")
        const { create } = yield* slow(make({}))
        const refused = create(yield* redraw(account, "slow", [{ data: png }]))
        assert.strictEqual((yield* refusalOf(refused))._tag, "ImageTimedOut")
        // The same request may succeed later.
        const { create: createLater } = yield* make({})
        yield* createLater(yield* redraw(account, "slow", [{ data: png }]))
      }))

    it.effect("that a crash leaves after their removal are deleted by the sweep", () =>
      Effect.gen(function*() {
        const { dropImages } = yield* GenerationSweep
        const account = yield* openAccount({ credits: 0 })
        const blobs = yield* BlobStore.BlobStore
        const uploads = yield* Effect.provideService(makeUploads({}), BlobStore.BlobStore, {
          ...blobs,
          delete: () => Effect.interrupt
        })
        const { id } = yield* uploads.create(account.id, bytesOf(png), undefined)
        yield* Effect.exit(uploads.remove(account.id, id))
        const key = `images/${UploadId.toUuid(id)}`
        assert.isTrue(yield* isKept(key))
        yield* TestClock.adjust("1 hour")
        yield* dropImages(1_000)
        assert.isFalse(yield* isKept(key))
      }))

    it.effect("beyond the limit are refused in an open unit of work without dooming it", () =>
      Effect.gen(function*() {
        const uploads = yield* Uploads
        const images = yield* ImageStore
        const { atomically } = yield* UnitOfWork
        const account = yield* openAccount({ credits: 0 })
        const upload = () => Effect.exit(uploads.create(account.id, bytesOf(png), undefined))
        // Both find room before their images are decoded, and one of them finds none when it is inserted.
        const exits = yield* atomically(Effect.andThen(
          Effect.forEach(Array.from({ length: uploadsMax - 1 }), upload),
          Effect.all([upload(), upload()], { concurrency: "unbounded" })
        ))
        assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
        assert.strictEqual((yield* images.countUsable(account.id, yield* DateTime.now)).count, uploadsMax)
      }))

    it.effect("are refused if they are not an image of the declared type", () =>
      Effect.gen(function*() {
        const uploads = yield* Uploads
        const account = yield* openAccount({ credits: 0 })
        for (
          const [bytes, declared] of [
            [new Uint8Array(), undefined],
            [bytesOf(png).subarray(0, 40), undefined],
            [bytesOf(png), "image/jpeg"],
            [new Uint8Array(10 * 1024 ** 2 + 1), undefined]
          ] as const
        ) {
          const error = yield* Effect.flip(uploads.create(account.id, bytes, declared))
          assert.strictEqual(error._tag === "UploadError" && error.reason._tag, "InvalidImage")
        }
      }))

    it.effect("that are removed while a job is created refuse it without a charge", () =>
      Effect.gen(function*() {
        const uploads = yield* Uploads
        const images = yield* ImageStore
        const account = yield* openAccount({ credits: 100 })
        const upload = yield* uploads.create(account.id, bytesOf(png), undefined)
        const { create } = yield* Effect.provideService(make({}), ImageStore, {
          ...images,
          findUsable: (...args) =>
            Effect.tap(images.findUsable(...args), () => Effect.ignore(uploads.remove(account.id, upload.id)))
        })
        const refusal = yield* refusalOf(create(yield* redraw(account, "raced", [{ upload_id: upload.id }])))
        assert.deepInclude(refusal, { _tag: "UploadNotFound", index: 0 })
        assert.strictEqual(yield* creditsOf(account.id), 100)
      }))
  })
}
