/**
 * Recovery after a process that crashed between two writes. After the sweep, every
 * image either belongs to a job or is deleted.
 */
import { assert, layer } from "@effect/vitest"
import { Ledger } from "@kinora/ledger"
import { Moderation } from "@kinora/moderation"
import { UnitOfWork } from "@kinora/persistence"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { BlobStore } from "@kinora/storage"
import { DateTime, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { UploadId } from "../src/Generation.ts"
import * as Generations from "../src/Generations.ts"
import * as GenerationSweep from "../src/GenerationSweep.ts"
import { ImageStore } from "../src/ImageStore.ts"
import * as Uploads from "../src/Uploads.ts"
import { type layerMemory, openAccount, request, uploadsMax } from "./Assembly.ts"
import { bytesOf, png } from "./Pictures.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

/** The writes of a process, and its checks. */
type Moment = "insert" | "put" | "moderate" | "commit" | "delete blob" | "delete row"

/** Makes the services of a process that crashes before or after its first write of a kind, and writes nothing afterwards. */
const makeDying = Effect.fnUntraced(function*(moment: Moment, isMade: boolean) {
  const blobs = yield* BlobStore.BlobStore
  const images = yield* ImageStore
  const unit = yield* UnitOfWork.UnitOfWork
  const keys: Array<string> = []
  let isDead = false

  const die = Effect.suspend(() => {
    isDead = true
    return Effect.die("crash")
  })
  const write = <A, E, R>(kind: Moment, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      if (isDead) return Effect.die("dead")
      if (kind !== moment) return effect
      return isMade ? Effect.andThen(effect, die) : die
    })

  const services = {
    blobs: BlobStore.BlobStore.of({
      ...blobs,
      put: (key, stream, options) => {
        keys.push(key)
        return write("put", blobs.put(key, stream, options))
      },
      delete: (keys) => write("delete blob", blobs.delete(keys))
    }),
    images: ImageStore.of({
      ...images,
      insert: (added) => {
        keys.push(...added.map(({ id }) => `images/${UploadId.toUuid(id)}`))
        return write("insert", images.insert(added))
      },
      delete: (ids) => write("delete row", images.delete(ids))
    }),
    moderation: Moderation.Moderation.of({
      checkInput: () => write("moderate", Effect.succeed(Moderation.accepted)),
      checkOutput: () => Effect.succeed(Moderation.accepted)
    }),
    unit: UnitOfWork.UnitOfWork.of({
      ...unit,
      atomically: (effect) => write("commit", unit.atomically(effect))
    })
  }
  const inThis = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.provideService(BlobStore.BlobStore, services.blobs),
      Effect.provideService(ImageStore, services.images),
      Effect.provideService(Moderation.Moderation, services.moderation),
      Effect.provideService(UnitOfWork.UnitOfWork, services.unit)
    )
  return { keys, inThis }
})

/** Counts the blobs and rows that remain of the images with these keys. A late sweep would return the rows. */
const leftOf = Effect.fnUntraced(function*(keys: ReadonlyArray<string>) {
  const blobs = yield* BlobStore.BlobStore
  const images = yield* ImageStore
  const later = DateTime.add(yield* DateTime.now, { days: 1_000 })
  const bytes = yield* Effect.filter(keys, (key) => Effect.map(Effect.exit(blobs.head(key)), Exit.isSuccess))
  const ids = yield* images.drop(later, later, 1_000)
  const rows = ids.filter((id) => keys.includes(`images/${UploadId.toUuid(id)}`))
  return { bytes: bytes.length, rows: rows.length }
})

const nothing = { bytes: 0, rows: 0 }

const sweep = Effect.gen(function*() {
  const { dropImages } = yield* GenerationSweep.GenerationSweep
  yield* dropImages(1_000)
})

type Death = readonly [moment: Moment, isMade: boolean]

const taking: ReadonlyArray<Death> = [
  ["insert", false],
  ["insert", true],
  ["put", false],
  ["put", true],
  ["commit", false]
]

const moderating: ReadonlyArray<Death> = [["moderate", false], ["moderate", true]]

const deleting: ReadonlyArray<Death> = [
  ["delete blob", false],
  ["delete blob", true],
  ["delete row", false],
  ["delete row", true]
]

const nameOf = ([moment, isMade]: Death) => `${isMade ? "after" : "before"} ${moment}`

export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Crashes of a process (${name})`, (it) => {
    for (const at of [...taking, ...moderating]) {
      it.effect(`${nameOf(at)} during the creation of a job charge nothing, and the sweep deletes the image`, () =>
        Effect.gen(function*() {
          const account = yield* openAccount({ credits: 100 })
          const { inThis, keys } = yield* makeDying(...at)
          const dying = yield* inThis(Generations.make({}))
          const params = { prompt: "a lake", images: [{ data: png }] }
          const command = yield* request(account, { key: "key", model: "redraw-1", params })
          assert.isTrue(Exit.isFailure(yield* Effect.exit(dying.create(command))))
          yield* TestClock.adjust("1 hour")
          yield* sweep
          assert.deepStrictEqual(yield* leftOf(keys), nothing)
          const { balances } = yield* Ledger.Ledger
          assert.strictEqual((yield* balances(account.id, yield* DateTime.now)).credits, 100)
          // Another process handles the repeated request.
          const { create } = yield* Generations.Generations
          assert.isFalse((yield* create(command)).replayed)
        }))
    }

    it.effect("after the commit of a new job keep its image, and a repeated request returns the job", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 100 })
        const { inThis, keys } = yield* makeDying("commit", true)
        const dying = yield* inThis(Generations.make({}))
        const params = { prompt: "a lake", images: [{ data: png }] }
        const command = yield* request(account, { key: "key", model: "redraw-1", params })
        assert.isTrue(Exit.isFailure(yield* Effect.exit(dying.create(command))))
        yield* TestClock.adjust("1 hour")
        yield* sweep
        const { create } = yield* Generations.Generations
        const { generation, replayed } = yield* create(command)
        assert.isTrue(replayed)
        assert.include(keys, generation.images[0]!.key)
        assert.deepStrictEqual(yield* leftOf([generation.images[0]!.key]), { bytes: 1, rows: 1 })
      }))

    for (const at of taking) {
      it.effect(`${nameOf(at)} during an upload free its place after 24 hours, and the sweep deletes it`, () =>
        Effect.gen(function*() {
          const account = yield* openAccount({ credits: 0 })
          const { inThis, keys } = yield* makeDying(...at)
          const dying = yield* inThis(Uploads.make({ uploadsMax }))
          assert.isTrue(Exit.isFailure(yield* Effect.exit(dying.create(account.id, bytesOf(png), undefined))))
          yield* TestClock.adjust("24 hours")
          yield* sweep
          assert.deepStrictEqual(yield* leftOf(keys), nothing)
          const { create } = yield* Uploads.Uploads
          for (let n = 0; n < uploadsMax; n++) yield* create(account.id, bytesOf(png), undefined)
        }))
    }

    for (const at of deleting) {
      it.effect(`${nameOf(at)} during the deletion of an image are repaired by the next sweep`, () =>
        Effect.gen(function*() {
          const { create } = yield* Uploads.Uploads
          const upload = yield* create("somebody", bytesOf(png), undefined)
          const key = `images/${UploadId.toUuid(upload.id)}`
          yield* TestClock.adjust("24 hours")
          const { inThis } = yield* makeDying(...at)
          const dying = yield* inThis(Layer.build(Layer.fresh(GenerationSweep.layer)))
          assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.provide(sweep, dying))))
          yield* TestClock.adjust("15 minutes")
          yield* sweep
          assert.deepStrictEqual(yield* leftOf([key]), nothing)
        }).pipe(Effect.scoped))
    }
  })
}
