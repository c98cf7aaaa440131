/** Jobs that move from one worker to another, and jobs whose generator or database fails. */
import { assert, layer } from "@effect/vitest"
import { type Generator, GeneratorError, Generators, ScriptedGenerator } from "@kinora/generator"
import { Media } from "@kinora/media"
import { StorageError, UnitOfWork } from "@kinora/persistence"
import { type JobHandler, Scheduler, Worker } from "@kinora/scheduler"
import { BlobStore } from "@kinora/storage"
import * as TestTime from "@kinora/testkit/TestTime"
import { Deferred, Duration, Effect, Exit, Fiber, Layer, Option, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Generations } from "../src/Generations.ts"
import { GenerationStore } from "../src/GenerationStore.ts"
import * as GenerationWorker from "../src/GenerationWorker.ts"
import { layerMemory, layerMemoryWith, openAccount, request } from "./Assembly.ts"

const lost = new GeneratorError.Lost()

layer(layerMemory)("Work of a job", (it) => {
  it.effect("continues when its worker stops, and the next worker awaits it", () =>
    Effect.gen(function*() {
      const { wait } = yield* Generations
      const control = yield* ScriptedGenerator.Control
      const account = yield* openAccount({ credits: 100 })
      const id = yield* create(account)
      const first = yield* Scope.make()
      yield* Scope.provide(startImpatientWorker, first)
      yield* control.called("submit", id)
      yield* control.called("poll", id)
      yield* Scope.close(first, Exit.void)

      yield* startImpatientWorker
      yield* control.succeed(id)
      const done = yield* wait(account.id, id, "60 seconds")
      assert.deepStrictEqual([done.status, done.failure], ["completed", null])
      const calls = (yield* control.calls).filter((call) => call.id === id).map(({ method }) => method)
      assert.strictEqual(calls.filter((method) => method === "submit").length, 1)
      assert.notInclude(calls, "cancel")
    }).pipe(Effect.scoped, TestClock.withLive))

  it.effect("is submitted again if the generator loses it", () =>
    Effect.gen(function*() {
      const { wait } = yield* Generations
      const control = yield* ScriptedGenerator.Control
      const account = yield* openAccount({ credits: 100 })
      const id = yield* create(account)
      yield* control.script(id, { pollErrors: [lost], collectErrors: [lost] })
      yield* startImpatientWorker
      yield* control.called("poll", id)
      yield* TestClock.adjust("5 seconds")
      const done = yield* wait(account.id, id, "60 seconds")
      assert.deepStrictEqual([done.status, done.failure], ["completed", null])
      const calls = (yield* control.calls).filter((call) => call.id === id).map(({ method }) => method)
      assert.strictEqual(calls.filter((method) => method === "submit").length, 3)
    }).pipe(Effect.scoped))

  it.effect("fails with a refund if the generator loses it every time", () =>
    Effect.gen(function*() {
      const { get } = yield* Generations
      const control = yield* ScriptedGenerator.Control
      const account = yield* openAccount({ credits: 100 })
      const id = yield* create(account)
      yield* control.script(id, { pollErrors: Array.from({ length: 20 }, () => lost) })
      yield* startImpatientWorker
      yield* TestTime.until(Effect.map(get(account.id, id), ({ status }) => status === "failed"))
      const { failure, refunded } = yield* get(account.id, id)
      assert.deepStrictEqual([failure?.code, refunded], ["upstream_error", true])
    }).pipe(Effect.scoped))

  it.effect("is cancelled at the job's time limit", () =>
    Effect.gen(function*() {
      const { get } = yield* Generations
      const control = yield* ScriptedGenerator.Control
      const account = yield* openAccount({ credits: 100 })
      const id = yield* create(account)
      yield* startImpatientWorker
      yield* control.called("poll", id)
      // The model's time limit.
      yield* TestClock.adjust("5 minutes")
      yield* control.called("cancel", id)
      yield* TestTime.until(Effect.map(get(account.id, id), ({ status }) => status !== "processing"))
      assert.strictEqual((yield* get(account.id, id)).failure?.code, "time_limit")
    }).pipe(Effect.scoped))
})

layer(layerMemoryWith({}, Media.layer()))("Work of a job", (it) => {
  it.effect("fails with a refund if its output is not an image", () =>
    Effect.gen(function*() {
      const { wait } = yield* Generations
      const generators = yield* Generators.Generators
      const account = yield* openAccount({ credits: 100 })
      const id = yield* create(account)
      const page = Stream.make(new TextEncoder().encode("<!doctype html>"))
      const asPage = (generator: Generator.Generator["Service"]): Generator.Generator["Service"] => ({
        ...generator,
        collect: (operation) => Effect.map(generator.collect(operation), (output) => ({ ...output, body: page }))
      })
      yield* (yield* ScriptedGenerator.Control).succeed(id)
      yield* Effect.provideService(startImpatientWorker, Generators.Generators, {
        ...generators,
        get: (name) => Option.map(generators.get(name), asPage)
      })
      const { failure, output, refunded } = yield* wait(account.id, id, "60 seconds")
      assert.deepStrictEqual([failure?.code, output, refunded], ["upstream_error", null, true])
    }).pipe(Effect.scoped, TestClock.withLive))
})

layer(layerMemory)("Files of a job that two workers ran", (it) => {
  it.effect("are kept for the recorded result and deleted for the late one", () =>
    Effect.gen(function*() {
      const { file } = yield* Generations
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const blobs = yield* BlobStore.BlobStore
      const control = yield* ScriptedGenerator.Control
      const scheduler = yield* Scheduler.Scheduler
      const mayStore = yield* Deferred.make<void>()
      const handler = yield* GenerationWorker.makeHandler({})
      const slow = yield* GenerationWorker.makeHandler({}).pipe(
        Effect.provideService(BlobStore.BlobStore, {
          ...blobs,
          put: (...args) => Effect.andThen(Deferred.await(mayStore), blobs.put(...args))
        })
      )
      const termsOf = Effect.fnUntraced(function*(id: string) {
        const worker = { worker: "test", kinds: handler.claims }
        return { ...worker, limit: 1, lease: yield* scheduler.takeLease({ ...worker, id, slots: 1, ttl: "1 second" }) }
      })
      const claim = Effect.fnUntraced(function*(worker: string) {
        const jobs = scheduler.claim(yield* termsOf(worker))
        const [job] = yield* atomically(Effect.tap(jobs, (jobs) => handler.claimed!(jobs, worker)))
        return job!
      })
      const run = (handler: JobHandler.JobHandler) =>
        handler.prepare((_, settle) => (settlement) => atomically(settle!([settlement])))

      const account = yield* openAccount({ credits: 100 })
      const id = yield* create(account)
      yield* control.succeed(id)
      const first = yield* Effect.forkChild(run(slow)(yield* claim("first"), undefined), { startImmediately: true })
      yield* control.called("collect", id)
      yield* TestClock.adjust("1 second")
      yield* scheduler.rescue(yield* termsOf("rescuer"))
      const settleSecond = yield* run(handler)(yield* claim("second"), undefined)
      yield* settleSecond
      yield* Deferred.succeed(mayStore, undefined)
      const settleFirst = yield* Fiber.join(first)

      const { key } = (yield* file(id, "content")).file
      const lateKey = key.replace("/2/", "/1/")
      yield* blobs.head(lateKey)
      yield* settleFirst
      while (Exit.isSuccess(yield* Effect.exit(blobs.head(lateKey)))) yield* Effect.yieldNow
      // Repeats a settlement whose commit was not acknowledged, and which now finds its lease lost.
      yield* settleSecond
      yield* Effect.replicateEffect(Effect.yieldNow, 100)
      yield* blobs.head(key)
    }).pipe(Effect.scoped))
})

layer(layerMemory)("A busy generator", (it) => {
  it.effect("is called again after its retryAfter and not earlier", () =>
    Effect.gen(function*() {
      const control = yield* ScriptedGenerator.Control
      const account = yield* openAccount({ credits: 100 })
      const id = yield* create(account)
      yield* control.script(id, {
        submitErrors: [new GeneratorError.Transient({ retryAfter: Duration.seconds(45) })]
      })
      const submits = Effect.map(
        control.calls,
        (calls) => calls.filter((call) => call.id === id && call.method === "submit").length
      )
      yield* startImpatientWorker
      yield* control.called("submit", id)
      yield* TestClock.adjust("44 seconds")
      assert.strictEqual(yield* submits, 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* submits, 2)
    }).pipe(Effect.scoped))
})

layer(layerMemory)("A job during an outage of the database", (it) => {
  it.effect("continues when the database is available again", () =>
    Effect.gen(function*() {
      const { get, wait } = yield* Generations
      const control = yield* ScriptedGenerator.Control
      const scheduler = yield* Scheduler.Scheduler
      const store = yield* GenerationStore
      let failing: "find" | "checkpoint" | undefined = "find"
      const unless = <A, E>(call: typeof failing, effect: Effect.Effect<A, E>) =>
        Effect.suspend((): Effect.Effect<A, E | StorageError.StorageError> =>
          failing === call ? Effect.fail(unavailable) : effect
        )
      const handler = yield* GenerationWorker.makeHandler({}).pipe(
        Effect.provideService(GenerationStore, { ...store, find: (ids) => unless("find", store.find(ids)) }),
        Effect.provideService(Scheduler.Scheduler, {
          ...scheduler,
          checkpoint: (command) => unless("checkpoint", scheduler.checkpoint(command))
        })
      )
      const account = yield* openAccount({ credits: 100 })
      const id = yield* create(account)
      yield* control.succeed(id)
      yield* Layer.build(Worker.layer({ name: "patient", handlers: [handler], concurrency: 1 }))
      const statusAfter = Effect.fnUntraced(function*(duration: Duration.Input) {
        yield* TestClock.adjust(duration)
        return (yield* get(account.id, id)).status
      })
      // Longer than all other retries last.
      assert.strictEqual(yield* statusAfter("2 minutes"), "processing")
      failing = "checkpoint"
      assert.strictEqual(yield* statusAfter("2 minutes"), "processing")
      failing = undefined
      yield* TestClock.adjust("10 seconds")
      // The files are made now, in real time.
      assert.strictEqual((yield* wait(account.id, id, "1 minute")).status, "completed")
    }).pipe(Effect.scoped))
})

const unavailable = new StorageError.StorageError({ operation: "test", reason: "unavailable", cause: "test" })

const create = Effect.fnUntraced(function*(account: Parameters<typeof request>[0]) {
  const { create } = yield* Generations
  return (yield* create(yield* request(account))).generation.id
})

/** Starts a worker that releases its jobs immediately when its scope closes. */
const startImpatientWorker = Effect.gen(function*() {
  const handler: JobHandler.JobHandler = yield* GenerationWorker.makeHandler({})
  yield* Layer.build(Worker.layer({ name: "impatient", handlers: [handler], concurrency: 1, grace: 0 }))
})
