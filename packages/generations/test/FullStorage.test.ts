/** A worker whose disk is full or read-only. */
import { assert, layer } from "@effect/vitest"
import { ScriptedGenerator } from "@kinora/generator"
import { Ledger } from "@kinora/ledger"
import { Worker } from "@kinora/scheduler"
import { BlobError, BlobStore } from "@kinora/storage"
import * as TestTime from "@kinora/testkit/TestTime"
import { DateTime, Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { GenerationId } from "../src/Generation.ts"
import { Generations } from "../src/Generations.ts"
import * as GenerationWorker from "../src/GenerationWorker.ts"
import { layerMemory, openAccount, request } from "./Assembly.ts"

/** Starts a worker on a disk that a test fills. Returns the disk, and the attempts of the jobs that the worker claims. */
const startOnDisk = Effect.gen(function*() {
  const blobs = yield* BlobStore.BlobStore
  const disk = { isFull: true, isReadOnly: false, hasRoomForTests: false, writes: 0 }
  const cause = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })
  const noSpace = new BlobError.BlobError({
    reason: new BlobError.Unavailable({ operation: "BlobStore.put", cause })
  })
  const put: typeof blobs.put = (key, stream, options) =>
    Effect.suspend(() => {
      const isTest = key === "generations/storage-test"
      if (!isTest) disk.writes++
      const fails = disk.isFull && !(isTest && disk.hasRoomForTests)
      return fails ? Effect.fail(noSpace) : blobs.put(key, stream, options)
    })
  const remove: typeof blobs.delete = (keys) =>
    Effect.suspend(() => disk.isReadOnly ? Effect.fail(noSpace) : blobs.delete(keys))
  const handler = yield* GenerationWorker.makeHandler({}).pipe(
    Effect.provideService(BlobStore.BlobStore, BlobStore.BlobStore.of({ ...blobs, put, delete: remove }))
  )
  const claimed: Array<readonly [job: string, attempt: number]> = []
  const observed: typeof handler = {
    ...handler,
    claimed: (jobs, worker) => {
      claimed.push(...jobs.map(({ attempt, job }) => [job, attempt] as const))
      return handler.claimed!(jobs, worker)
    }
  }
  yield* Layer.build(Worker.layer({ name: "test", handlers: [observed], concurrency: 4, lease: "2 hours" }))
  return { disk, claimed }
})

const createFor = Effect.fnUntraced(function*(account: Effect.Success<ReturnType<typeof openAccount>>, key: string) {
  const { create } = yield* Generations
  const { succeed } = yield* ScriptedGenerator.Control
  const { generation } = yield* create(yield* request(account, { key }))
  yield* succeed(generation.id)
  return generation.id
})

// Media works on other threads, for which the clock of a test does not wait.
layer(layerMemory)("A worker that cannot store results", (it) => {
  it.effect("returns its jobs unharmed, and claims none until a test of the storage succeeds", () =>
    Effect.gen(function*() {
      const { get } = yield* Generations
      const { balances } = yield* Ledger.Ledger
      const account = yield* openAccount({ credits: 100 })
      const first = yield* createFor(account, "first")
      const { claimed, disk } = yield* startOnDisk
      yield* TestTime.until(Effect.sync(() => disk.writes > 0))
      const second = yield* createFor(account, "second")
      // The retries of a run last half a minute, and the time limit of the model is 5 minutes.
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(claimed, [[GenerationId.toUuid(first), 1]])
      assert.strictEqual((yield* get(account.id, first)).status, "processing")
      assert.strictEqual((yield* get(account.id, second)).status, "queued")

      const before = (yield* balances(account.id, yield* DateTime.now)).credits
      disk.isFull = false
      for (const id of [first, second]) {
        yield* TestTime.until(Effect.map(get(account.id, id), ({ status }) => status === "completed"))
      }
      assert.deepStrictEqual(claimed, [
        [GenerationId.toUuid(first), 1],
        [GenerationId.toUuid(first), 1],
        [GenerationId.toUuid(second), 1]
      ])
      assert.strictEqual((yield* balances(account.id, yield* DateTime.now)).credits, before)
    }).pipe(Effect.scoped))

  it.effect("waits longer after each failure if there is room for tests and not for results", () =>
    Effect.gen(function*() {
      const account = yield* openAccount({ credits: 100 })
      const { claimed, disk } = yield* startOnDisk
      disk.hasRoomForTests = true
      yield* createFor(account, "first")
      yield* TestClock.adjust("4 minutes")
      const claimsOfFirst = claimed.length
      assert.isAtLeast(claimsOfFirst, 2)
      // Runs of half a minute, and pauses of 1, 2, 4, … seconds in between.
      assert.isAtMost(claimsOfFirst, 8)
    }).pipe(Effect.scoped))

  it.effect("deletes the file of a test later if it cannot be deleted at once", () =>
    Effect.gen(function*() {
      const { head } = yield* BlobStore.BlobStore
      const isStored = Effect.isSuccess(head("generations/storage-test"))
      const account = yield* openAccount({ credits: 100 })
      const { disk } = yield* startOnDisk
      yield* createFor(account, "first")
      yield* TestTime.until(Effect.sync(() => disk.writes > 0))
      Object.assign(disk, { isFull: false, isReadOnly: true })
      yield* TestTime.until(isStored)
      disk.isReadOnly = false
      yield* TestTime.until(Effect.map(isStored, (stored) => !stored))
    }).pipe(Effect.scoped))

  it.effect("fails a job, without blame of its generator, whose stored result has lost bytes", () =>
    Effect.gen(function*() {
      const { get } = yield* Generations
      const account = yield* openAccount({ credits: 100 })
      const blobs = yield* BlobStore.BlobStore
      // The file is truncated after it was verified, and so only reads of the whole file find it.
      const lossy: typeof blobs.get = (key, range) =>
        Stream.unwrap(Effect.map(blobs.head(key), ({ bytes }) => {
          if (range === undefined) return blobs.get(key, { start: 0, end: Math.floor(bytes / 2) })
          return range.start > 0 || range.end < bytes - 1
            ? blobs.get(key, range)
            : Stream.fail(new BlobError.BlobError({ reason: new BlobError.OutOfRange({ key, bytes: 1 }) }))
        }))
      const handler = yield* GenerationWorker.makeHandler({}).pipe(
        Effect.provideService(BlobStore.BlobStore, BlobStore.BlobStore.of({ ...blobs, get: lossy }))
      )
      yield* Layer.build(Worker.layer({ name: "lossy", handlers: [handler], lease: "2 hours" }))
      const id = yield* createFor(account, "truncated")
      yield* TestTime.until(Effect.map(get(account.id, id), ({ status }) => status === "failed"))
      const { failure, refunded } = yield* get(account.id, id)
      assert.deepInclude({ ...failure, refunded }, { code: "generation_failed", reason: "internal", refunded: true })
    }).pipe(Effect.scoped))
})
