/** Sweeps with items that cannot be processed. They process all other items and terminate. */
import { assert, layer } from "@effect/vitest"
import { ScriptedGenerator } from "@kinora/generator"
import { Ledger } from "@kinora/ledger"
import { UnitOfWork } from "@kinora/persistence"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Lanes, Scheduler } from "@kinora/scheduler"
import { BlobError, BlobStore } from "@kinora/storage"
import { DateTime, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { GenerationId, UploadId } from "../src/Generation.ts"
import { Generations } from "../src/Generations.ts"
import * as GenerationSweep from "../src/GenerationSweep.ts"
import { addressOf, generationKind } from "../src/internal/jobAddress.ts"
import { Uploads } from "../src/Uploads.ts"
import { type layerMemory, openAccount, request, startWorker } from "./Assembly.ts"
import { bytesOf, png } from "./Pictures.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

const createNew = Effect.fnUntraced(function*(account: Parameters<typeof request>[0], key: string, options = {}) {
  const { create } = yield* Generations
  return (yield* create(yield* request(account, { key, ...options }))).generation
})

/** Creates a damaged job: it was never charged, so it cannot be refunded. */
const damage = Effect.fnUntraced(function*(account: string) {
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const scheduler = yield* Scheduler.Scheduler
  const id = yield* GenerationId.make
  const address = addressOf({ id, account, plan: "credits" })
  yield* atomically(Effect.gen(function*() {
    const lanes = yield* scheduler.load({ lanes: [address] })
    const job = Lanes.enqueue(lanes, { ...address, kind: generationKind, payload: { id }, cap: 100 })
    if (job._tag === "Failure") return assert.fail(job.failure._tag)
    yield* scheduler.save(job.success.state)
  }))
  return id
})

/** Creates a job in an unknown lane. */
const stray = Effect.fnUntraced(function*(account: string) {
  const { enqueue } = yield* Scheduler.Scheduler
  const id = yield* GenerationId.make
  const address = { ...addressOf({ id, account, plan: "credits" }), lane: `${account}/gold` }
  yield* enqueue({ ...address, kind: generationKind, payload: { id }, cap: 100 })
})

/** Makes the sweeps over a blob store that fails to delete these keys. */
const sweepsWithout = Effect.fnUntraced(function*(stuck: Set<string>) {
  const blobs = yield* BlobStore.BlobStore
  const deletes: Array<ReadonlyArray<string>> = []
  const unavailable = new BlobError.Unavailable({ operation: "BlobStore.delete", cause: "stuck" })
  const services = yield* Layer.build(Layer.fresh(GenerationSweep.layer)).pipe(
    Effect.provideService(BlobStore.BlobStore, {
      ...blobs,
      delete: (keys) =>
        Effect.suspend(() => {
          deletes.push(keys)
          return keys.some((key) => stuck.has(key))
            ? Effect.fail(new BlobError.BlobError({ reason: unavailable }))
            : blobs.delete(keys)
        })
    })
  )
  const sweep = yield* Effect.provide(GenerationSweep.GenerationSweep, services)
  return { sweep, deletes }
})

/** Deletes the ended jobs of other tests. */
const deleteOthers = Effect.gen(function*() {
  const { deleteJobs } = yield* GenerationSweep.GenerationSweep
  yield* TestClock.adjust("3 days")
  yield* deleteJobs("2 days", 1_000)
})

const isKept = (key: string) =>
  BlobStore.BlobStore.use((blobs) => Effect.map(Effect.exit(blobs.head(key)), Exit.isSuccess))

export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Sweeps (${name})`, (it) => {
    it.effect("expire jobs that waited too long, also if a whole set before them is damaged", () =>
      Effect.gen(function*() {
        const { get } = yield* Generations
        const { dropStale } = yield* GenerationSweep.GenerationSweep
        const account = yield* openAccount({ credits: 100 })
        yield* damage("damaged")
        yield* damage("damaged")
        yield* stray("damaged")
        const stale = yield* Effect.forEach(["1", "2", "3"], (key) => createNew(account, key))
        yield* TestClock.adjust("25 hours")
        assert.strictEqual(yield* dropStale(2), 2)
        assert.strictEqual(yield* dropStale(2), 1)
        // Returns 0, because only damaged jobs remain.
        assert.strictEqual(yield* dropStale(2), 0)
        for (const { id } of stale) assert.strictEqual((yield* get(account.id, id)).failure?.code, "queue_timeout")
        // The expired jobs hold no place in the queue.
        assert.strictEqual((yield* createNew(account, "after")).status, "queued")
      }))

    it.effect("delete the other images if one cannot be deleted, and retry it later", () =>
      Effect.gen(function*() {
        const uploads = yield* Uploads
        const keys = yield* Effect.forEach(
          ["a", "b"],
          (account) =>
            Effect.map(
              uploads.create(account, bytesOf(png), undefined),
              ({ id }) => `images/${UploadId.toUuid(id)}`
            )
        )
        const stuck = new Set([keys[0]!])
        const { sweep } = yield* sweepsWithout(stuck)
        yield* TestClock.adjust("24 hours")
        assert.strictEqual(yield* sweep.dropImages(10), 1)
        assert.strictEqual(yield* sweep.dropImages(10), 0)
        assert.deepStrictEqual(yield* Effect.forEach(keys, isKept), [true, false])
        yield* TestClock.adjust("15 minutes")
        stuck.clear()
        assert.strictEqual(yield* sweep.dropImages(10), 1)
        assert.deepStrictEqual(yield* Effect.forEach(keys, isKept), [false, false])
      }).pipe(Effect.scoped))
  })

  // Separate services, because the worker claims all jobs.
  layer(services)(`Sweeps of results (${name})`, (it) => {
    it.effect("delete the other results if one cannot be deleted, and retry it later", () =>
      Effect.gen(function*() {
        const { get, wait } = yield* Generations
        const control = yield* ScriptedGenerator.Control
        const account = yield* openAccount({ credits: 100 })
        const made = yield* Effect.forEach(["1", "2", "3"], (key) => createNew(account, key))
        yield* Effect.forEach(made, ({ id }) => control.succeed(id))
        const done = yield* Effect.scoped(
          Effect.andThen(startWorker(), Effect.forEach(made, ({ id }) => wait(account.id, id, "60 seconds")))
        )
        const [first, ...others] = done.map(({ output }) => output!.content.key)
        const stuck = new Set([first!])
        const { deletes, sweep } = yield* sweepsWithout(stuck)
        yield* TestClock.adjust("24 hours")
        assert.strictEqual(yield* sweep.expireResults(10), 2)
        for (const key of others) assert.isFalse(yield* isKept(key))
        assert.isNotNull((yield* get(account.id, made[0]!.id)).output)
        const tries = deletes.length
        // It is not returned again immediately.
        assert.strictEqual(yield* sweep.expireResults(10), 0)
        assert.strictEqual(deletes.length, tries)
        yield* TestClock.adjust("15 minutes")
        stuck.clear()
        assert.strictEqual(yield* sweep.expireResults(10), 1)
        assert.isNull((yield* get(account.id, made[0]!.id)).output)
      }).pipe(Effect.scoped))
  })

  layer(services)(`Retention (${name})`, (it) => {
    it.effect("deletes a job that ended long ago once its files are deleted, and keeps its charge", () =>
      Effect.gen(function*() {
        const { cancel, get, list, wait } = yield* Generations
        const { deleteJobs, expireResults } = yield* GenerationSweep.GenerationSweep
        const control = yield* ScriptedGenerator.Control
        const ledger = yield* Ledger.Ledger
        const account = yield* openAccount({ credits: 100 })
        const done = yield* createNew(account, "done")
        yield* control.succeed(done.id)
        yield* Effect.scoped(Effect.andThen(startWorker(), wait(account.id, done.id, "60 seconds")))
        const cancelled = yield* createNew(account, "cancelled")
        yield* cancel(account.id, cancelled.id)
        const waiting = yield* createNew(account, "waiting")
        const charges = yield* ledger.entries({ account: account.id, limit: 10 })

        yield* TestClock.adjust("89 days")
        assert.strictEqual(yield* deleteJobs("90 days", 10), 0)
        yield* TestClock.adjust("25 hours")
        assert.strictEqual(yield* deleteJobs("90 days", 10), 1)
        assert.strictEqual(yield* expireResults(10), 1)
        assert.strictEqual(yield* deleteJobs("90 days", 10), 1)
        assert.strictEqual(yield* deleteJobs("90 days", 10), 0)

        for (const { id } of [done, cancelled]) {
          assert.strictEqual((yield* Effect.flip(get(account.id, id)))._tag, "GenerationError")
        }
        assert.deepStrictEqual((yield* list(account.id, { limit: 10 })).generations.map(({ id }) => id), [waiting.id])
        assert.deepStrictEqual(yield* ledger.entries({ account: account.id, limit: 10 }), charges)
        assert.deepStrictEqual((yield* ledger.verify()).discrepancies, [])
        assert.deepStrictEqual(yield* Scheduler.Scheduler.use(({ verify }) => verify), [])
        // The keys of the deleted jobs have expired, so they identify new requests.
        const at = yield* DateTime.now
        const lot = { kind: "addon", credits: 100, expiresAt: DateTime.add(at, { days: 1 }), at } as const
        yield* ledger.grant({ ...lot, account: account.id, reference: "again" })
        const { plans } = yield* openAccount({ credits: 0 })
        const again = yield* createNew({ ...account, plans }, "cancelled")
        assert.notStrictEqual(again.id, cancelled.id)
      }))

    it.effect("deletes each old job once if several hosts sweep at the same time", () =>
      Effect.gen(function*() {
        const { cancel } = yield* Generations
        const { deleteJobs } = yield* GenerationSweep.GenerationSweep
        yield* deleteOthers
        const account = yield* openAccount({ credits: 100 })
        for (const key of ["1", "2", "3", "4", "5"]) yield* cancel(account.id, (yield* createNew(account, key)).id)
        yield* TestClock.adjust("91 days")
        let deleted = 0
        for (let round = 0; round < 5; round++) {
          const counts = yield* Effect.all([deleteJobs("90 days", 2), deleteJobs("90 days", 2)], {
            concurrency: "unbounded"
          })
          for (const count of counts) assert.isAtMost(count, 2)
          deleted += counts[0] + counts[1]
        }
        assert.strictEqual(deleted, 5)
      }))

    it.effect("deletes the usage of old days, and keeps it when its jobs are deleted", () =>
      Effect.gen(function*() {
        const { cancel, usage } = yield* Generations
        const { deleteJobs, deleteUsage } = yield* GenerationSweep.GenerationSweep
        yield* deleteOthers
        const account = yield* openAccount({ credits: 100 })
        const { id } = yield* createNew(account, "cancelled")
        yield* cancel(account.id, id)
        const day = DateTime.formatIsoDateUtc(yield* DateTime.now)
        const count = Effect.map(usage(account.id, { from: day, to: day }), (rows) => rows.length)
        yield* TestClock.adjust("90 days")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* deleteJobs("90 days", 10), 1)
        yield* deleteUsage("90 days", 10)
        assert.strictEqual(yield* count, 1)
        yield* TestClock.adjust("1 day")
        assert.strictEqual(yield* deleteUsage("90 days", 10), 1)
        assert.strictEqual(yield* count, 0)
      }))

    it.effect("keeps jobs for longer than their idempotency keys", () =>
      Effect.gen(function*() {
        const { deleteJobs } = yield* GenerationSweep.GenerationSweep
        assert.isTrue(Exit.hasDies(yield* Effect.exit(deleteJobs("47 hours", 10))))
        yield* deleteJobs(GenerationSweep.jobsKeptMin, 10)
      }))
  })

  layer(services)(`Files of a result (${name})`, (it) => {
    it.effect("include a poster and a thumb for a video whose generator returns a still image", () =>
      Effect.gen(function*() {
        const { file, wait } = yield* Generations
        const control = yield* ScriptedGenerator.Control
        const account = yield* openAccount({ credits: 100 })
        const { id } = yield* createNew(account, "video", { model: "video-1" })
        yield* control.succeed(id)
        const { output } = yield* Effect.scoped(Effect.andThen(startWorker(), wait(account.id, id, "60 seconds")))
        assert.isNull(output!.preview)
        assert.strictEqual((yield* file(id, "poster")).file.mime, "image/webp")
        for (const name of ["content", "poster", "thumb"] as const) {
          assert.isTrue(yield* isKept((yield* file(id, name)).file.key))
        }
      }))
  })
}
