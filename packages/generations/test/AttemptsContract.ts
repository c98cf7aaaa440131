import { assert, layer } from "@effect/vitest"
import { ScriptedGenerator } from "@kinora/generator"
import { UnitOfWork } from "@kinora/persistence"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Scheduler } from "@kinora/scheduler"
import { DateTime, Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { GenerationId } from "../src/Generation.ts"
import { Generations } from "../src/Generations.ts"
import { attemptsKept, GenerationStore } from "../src/GenerationStore.ts"
import * as GenerationWorker from "../src/GenerationWorker.ts"
import { type layerMemory, openAccount, request, startWorker } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

/** A queued job, and the store. */
const open = Effect.gen(function*() {
  const { create } = yield* Generations
  const store = yield* GenerationStore
  const account = yield* openAccount({ credits: 100 })
  const { generation: { id } } = yield* create(yield* request(account))
  const at = yield* DateTime.now
  const second = (n: number) => DateTime.add(at, { seconds: n })
  const start = (epoch: number) => store.start([{ id, at: second(epoch), attempt: epoch, epoch, worker: `w${epoch}` }])
  const attemptOf = (epoch: number) => ({
    attempt: epoch,
    epoch,
    worker: `w${epoch}`,
    startedAt: second(epoch),
    endedAt: null,
    end: null
  })
  return { account: account.id, attemptOf, id, second, start, store }
})

/** Attempts of generations on every backend. */
export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Attempts (${name})`, (it) => {
    it.effect("are recorded by each start, and end once", () =>
      Effect.gen(function*() {
        const { account, attemptOf, id, second, start, store } = yield* open
        assert.deepStrictEqual(yield* store.attempts(id), [])
        assert.deepStrictEqual((yield* start(1)).map(({ startedAt }) => startedAt), [second(1)])
        assert.deepStrictEqual(yield* store.attempts(id), [attemptOf(1)])

        yield* store.endAttempts([{ id, epoch: 2 }], second(2), "lost")
        assert.deepStrictEqual(yield* store.attempts(id), [attemptOf(1)])
        yield* store.endAttempts([{ id, epoch: 1 }], second(2), "lost")
        const lost = { ...attemptOf(1), endedAt: second(2), end: "lost" } as const
        assert.deepStrictEqual(yield* store.attempts(id), [lost])
        yield* store.endAttempts([{ id, epoch: undefined }], second(3), "requeued")
        assert.deepStrictEqual(yield* store.attempts(id), [lost])

        // The job has started before.
        assert.deepStrictEqual(yield* start(2), [])
        assert.deepStrictEqual(yield* store.attempts(id), [lost, attemptOf(2)])
        yield* store.endAttempts([{ id, epoch: undefined }], second(4), "returned")
        const returned = { ...attemptOf(2), endedAt: second(4), end: "returned" } as const
        yield* start(3)
        assert.deepStrictEqual(yield* store.attempts(id), [lost, returned, attemptOf(3)])

        yield* Generations.use(({ fail }) => fail(account, id))
        yield* store.endAttempts([{ id, epoch: 3 }], second(5), "lost")
        yield* start(4)
        assert.deepStrictEqual(yield* store.attempts(id), [lost, returned, attemptOf(3)])
      }))

    it.effect("are limited to the newest ones of a job", () =>
      Effect.gen(function*() {
        const { account, attemptOf, id, start, store } = yield* open
        const epochs = Array.from({ length: attemptsKept + 5 }, (_, index) => index + 1)
        yield* Effect.forEach(epochs, start)
        assert.deepStrictEqual(yield* store.attempts(id), epochs.slice(-attemptsKept).map(attemptOf))
        yield* Generations.use(({ fail }) => fail(account, id))
      }))

    it.effect("show a lost worker, a requeue, and the run that completes the job", () =>
      Effect.gen(function*() {
        const { account, id, store } = yield* open
        const { requeue, wait } = yield* Generations
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const control = yield* ScriptedGenerator.Control
        const scheduler = yield* Scheduler.Scheduler
        yield* control.script(id, { delay: "hold" })
        const { claimed, claims: kinds } = yield* GenerationWorker.makeHandler({})
        const worker = {
          id: `lost-${GenerationId.toUuid(id)}`,
          worker: "lost",
          kinds,
          slots: 1,
          ttl: "1 hour"
        } as const
        const lease = yield* scheduler.takeLease(worker)
        const claim = scheduler.claim({ lease, worker: "lost", kinds, limit: 1 })
        yield* atomically(Effect.tap(claim, (jobs) => claimed!(jobs, "lost")))
        yield* scheduler.returnLease(lease)

        yield* startWorker(1, { lease: "2 seconds" })
        yield* control.called("submit", id)
        yield* requeue(account, id)
        yield* control.succeed(id)
        assert.strictEqual((yield* wait(account, id, "30 seconds")).status, "completed")
        const attempts = yield* store.attempts(id)
        assert.deepStrictEqual(attempts.map(({ attempt, end, worker }) => [attempt, worker, end]), [
          [1, "lost", "lost"],
          [2, "test", "requeued"],
          [2, "test", null]
        ])
      }).pipe(Effect.scoped, TestClock.withLive))
  })
}
