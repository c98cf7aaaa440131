/** Files of attempts that are not part of a result: the sweep deletes those that the worker has not deleted. */
import { assert, layer } from "@effect/vitest"
import { ScriptedGenerator } from "@kinora/generator"
import { UnitOfWork } from "@kinora/persistence"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Scheduler } from "@kinora/scheduler"
import { BlobError, BlobStore } from "@kinora/storage"
import { DateTime, Effect, Exit, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { type File, type GenerationId, GenerationId as Id } from "../src/Generation.ts"
import { Generations } from "../src/Generations.ts"
import { attemptFilesKept, GenerationStore } from "../src/GenerationStore.ts"
import * as GenerationSweep from "../src/GenerationSweep.ts"
import * as GenerationWorker from "../src/GenerationWorker.ts"
import { type layerMemory, openAccount, request, startWorker } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

const keyOf = (id: GenerationId, epoch: number, file: File = "content"): string =>
  `generations/${Id.toUuid(id)}/${epoch}/${file}`

const putFile = (key: string) =>
  BlobStore.BlobStore.use(({ put }) =>
    put(key, Stream.succeed(new Uint8Array(3)), { bytesMax: 3, contentType: "image/png" })
  )

/** Returns those of the keys that have a file. */
const stored = (keys: ReadonlyArray<string>) =>
  BlobStore.BlobStore.use(({ head }) =>
    Effect.filter(keys, (key) => Effect.map(Effect.exit(head(key)), Exit.isSuccess))
  )

/** The blob store of a process, which can refuse deletions. */
const makeReadOnly = Effect.map(BlobStore.BlobStore, (blobs) => {
  const disk = { isReadOnly: true }
  const reason = new BlobError.Unavailable({ operation: "BlobStore.delete", cause: "read-only" })
  const refusing = BlobStore.BlobStore.of({
    ...blobs,
    delete: (keys) =>
      Effect.suspend(() => disk.isReadOnly ? Effect.fail(new BlobError.BlobError({ reason })) : blobs.delete(keys))
  })
  return { disk, inThis: Effect.provideService(BlobStore.BlobStore, refusing) }
})

const createJob = Effect.gen(function*() {
  const { create } = yield* Generations
  const account = yield* openAccount({ credits: 100 })
  const { generation: { id } } = yield* create(yield* request(account))
  return { account: account.id, id }
})

/** Claims the only job for a worker that is lost, after it has stored a file. */
const loseAttempt = Effect.fnUntraced(function*(id: GenerationId) {
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const scheduler = yield* Scheduler.Scheduler
  const handler = yield* GenerationWorker.makeHandler({})
  const { claims: kinds } = handler
  const lease = yield* scheduler.takeLease({ id: `lost-${id}`, worker: "lost", kinds, slots: 1, ttl: "1 hour" })
  const claim = scheduler.claim({ lease, worker: "lost", kinds, limit: 1 })
  const [job] = yield* atomically(Effect.tap(claim, (jobs) => handler.claimed!(jobs, "lost")))
  yield* putFile(keyOf(id, job!.epoch))
  const prepare = handler.prepare((_, settle) => (settlement) => atomically(settle!([settlement])))
  return {
    /** Runs the job, and returns the effect that ends it. */
    run: prepare(job!, undefined),
    lose: scheduler.returnLease(lease)
  }
})

/** Completes the job with a new worker, whose deletions fail. */
const completeElsewhere = Effect.fnUntraced(function*(account: string, id: GenerationId) {
  const { wait } = yield* Generations
  const { inThis } = yield* makeReadOnly
  const control = yield* ScriptedGenerator.Control
  yield* control.succeed(id)
  return yield* startWorker().pipe(inThis, Effect.andThen(wait(account, id, "60 seconds")), Effect.scoped)
})

const sweepOnce = GenerationSweep.GenerationSweep.use(({ deleteAttemptFiles }) => deleteAttemptFiles(10))

export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Files of attempts (${name})`, (it) => {
    it.effect("of a lost worker are deleted after the job completed, if the next worker could not delete them", () =>
      Effect.gen(function*() {
        const { account, id } = yield* createJob
        const { lose } = yield* loseAttempt(id)
        yield* lose
        const { output, status } = yield* completeElsewhere(account, id)
        assert.strictEqual(status, "completed")
        const recorded = [output!.content.key, output!.preview!.key, output!.thumb!.key]
        const all = [keyOf(id, 1), ...recorded]
        assert.deepStrictEqual(yield* stored(all), all)

        assert.strictEqual(yield* sweepOnce, 0)
        yield* TestClock.adjust(attemptFilesKept)
        assert.strictEqual(yield* sweepOnce, 1)
        assert.deepStrictEqual(yield* stored(all), recorded)
        assert.strictEqual(yield* sweepOnce, 0)
      }))

    it.effect("of a failed job are deleted when deletions work again, and its row is kept until then", () =>
      Effect.gen(function*() {
        const { fail } = yield* Generations
        const { deleteJobs } = yield* GenerationSweep.GenerationSweep
        const { account, id } = yield* createJob
        const { lose } = yield* loseAttempt(id)
        yield* lose
        const { disk, inThis } = yield* makeReadOnly
        yield* Layer.build(Layer.fresh(GenerationSweep.layer)).pipe(
          inThis,
          Effect.flatMap((services) =>
            Effect.gen(function*() {
              yield* Effect.asVoid(fail(account, id))
              // The worker continues to store files, and crashes.
              yield* putFile(keyOf(id, 1, "preview"))
              yield* TestClock.adjust("3 days")
              assert.strictEqual(yield* Effect.provide(sweepOnce, services), 0)
              assert.strictEqual(yield* deleteJobs("2 days", 10), 0)
              disk.isReadOnly = false
              // It is not returned again immediately.
              assert.strictEqual(yield* Effect.provide(sweepOnce, services), 0)
              yield* TestClock.adjust("15 minutes")
              assert.strictEqual(yield* Effect.provide(sweepOnce, services), 1)
            })
          )
        )
        assert.deepStrictEqual(yield* stored([keyOf(id, 1), keyOf(id, 1, "preview")]), [])
        assert.isAtLeast(yield* deleteJobs("2 days", 10), 1)
      }).pipe(Effect.scoped))

    it.effect("that a worker stored after the sweep are deleted by a later one, if the worker could not delete them", () =>
      Effect.gen(function*() {
        const control = yield* ScriptedGenerator.Control
        const { inThis } = yield* makeReadOnly
        const { account, id } = yield* createJob
        yield* control.succeed(id)
        const { lose, run } = yield* inThis(loseAttempt(id))
        const settle = yield* run
        yield* lose
        const { output } = yield* completeElsewhere(account, id)
        yield* TestClock.adjust(attemptFilesKept)
        assert.strictEqual(yield* sweepOnce, 1)

        yield* putFile(keyOf(id, 1))
        yield* settle
        assert.strictEqual(yield* sweepOnce, 0)
        yield* TestClock.adjust(attemptFilesKept)
        assert.strictEqual(yield* sweepOnce, 1)
        assert.deepStrictEqual(yield* stored([keyOf(id, 1), output!.content.key]), [output!.content.key])
      }))

    it.effect("of a running job are kept, also if a set of late results names it", () =>
      Effect.gen(function*() {
        const store = yield* GenerationStore
        const { account, id } = yield* createJob
        const { lose } = yield* loseAttempt(id)
        yield* store.setAttemptFilesDue([id], yield* DateTime.now)
        assert.strictEqual(yield* sweepOnce, 0)
        assert.deepStrictEqual(yield* stored([keyOf(id, 1)]), [keyOf(id, 1)])
        yield* lose
        yield* Generations.use(({ fail }) => fail(account, id))
        yield* TestClock.adjust(attemptFilesKept)
        assert.strictEqual(yield* sweepOnce, 1)
      }))

    it.effect("that a late worker announces while the sweep runs are deleted by a later one", () =>
      Effect.gen(function*() {
        const blobs = yield* BlobStore.BlobStore
        const store = yield* GenerationStore
        const { account, id } = yield* createJob
        const { lose } = yield* loseAttempt(id)
        yield* lose
        yield* Generations.use(({ fail }) => fail(account, id))
        yield* TestClock.adjust(attemptFilesKept)
        const later = DateTime.addDuration(yield* DateTime.now, attemptFilesKept)
        const beside = BlobStore.BlobStore.of({
          ...blobs,
          delete: (keys) => Effect.andThen(blobs.delete(keys), Effect.orDie(store.setAttemptFilesDue([id], later)))
        })
        const sweep = Layer.build(Layer.fresh(GenerationSweep.layer)).pipe(
          Effect.provideService(BlobStore.BlobStore, beside),
          Effect.flatMap((services) => Effect.provide(sweepOnce, services))
        )
        assert.strictEqual(yield* sweep, 1)
        yield* putFile(keyOf(id, 1))
        yield* TestClock.adjust(attemptFilesKept)
        assert.strictEqual(yield* sweepOnce, 1)
        assert.deepStrictEqual(yield* stored([keyOf(id, 1)]), [])
      }).pipe(Effect.scoped))

    it.effect("keep the row of their job when an account is erased", () =>
      Effect.gen(function*() {
        const { forget } = yield* GenerationStore
        const { account, id } = yield* createJob
        const { lose } = yield* loseAttempt(id)
        yield* lose
        yield* Generations.use(({ fail }) => fail(account, id))
        assert.strictEqual(yield* forget(account, yield* DateTime.now, 10), 0)
        yield* TestClock.adjust(attemptFilesKept)
        assert.strictEqual(yield* sweepOnce, 1)
        assert.strictEqual(yield* forget(account, yield* DateTime.now, 10), 1)
      }))

    it.effect("are not expected of a job that has not started", () =>
      Effect.gen(function*() {
        const { forget } = yield* GenerationStore
        const { account, id } = yield* createJob
        yield* Generations.use(({ fail }) => fail(account, id))
        assert.strictEqual(yield* forget(account, yield* DateTime.now, 10), 1)
        yield* TestClock.adjust(attemptFilesKept)
        assert.strictEqual(yield* sweepOnce, 0)
      }))

    it.effect("of the only attempt are deleted with the result, also if the result does not contain them", () =>
      Effect.gen(function*() {
        const { wait } = yield* Generations
        const { expireResults } = yield* GenerationSweep.GenerationSweep
        const control = yield* ScriptedGenerator.Control
        const { account, id } = yield* createJob
        yield* control.succeed(id)
        const { output } = yield* startWorker().pipe(Effect.andThen(wait(account, id, "60 seconds")), Effect.scoped)
        const beside = output!.content.key.replace("content", "poster")
        assert.isNull(output!.poster)
        yield* putFile(beside)
        yield* TestClock.adjust("24 hours")
        assert.strictEqual(yield* sweepOnce, 0)
        assert.isAtLeast(yield* expireResults(10), 1)
        assert.deepStrictEqual(yield* stored([beside, output!.content.key]), [])
      }))
  })
}
