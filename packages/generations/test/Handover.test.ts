/** What a worker that lets go of a job leaves to the next. */
import { assert, layer } from "@effect/vitest"
import { type Generator, GeneratorError, Generators, ScriptedGenerator } from "@kinora/generator"
import { StorageError, UnitOfWork } from "@kinora/persistence"
import { type JobHandler, Scheduler, Worker } from "@kinora/scheduler"
import { BlobStore } from "@kinora/storage"
import { Deferred, Duration, Effect, Exit, Fiber, Layer, Option, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Generations } from "../src/Generations.ts"
import { GenerationStore } from "../src/GenerationStore.ts"
import * as GenerationWorker from "../src/GenerationWorker.ts"
import { layerMemory, openAccount, request } from "./Assembly.ts"

const lost = new GeneratorError.Lost()

layer(layerMemory)("the work of a job", (it) => {
  it.effect("goes on when its worker has to stop, and the next worker awaits it", () =>
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

  it.effect("is handed over again when the generator lost it", () =>
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

  it.effect("is given up and refunded when the generator loses it again and again", () =>
    Effect.gen(function*() {
      const { get } = yield* Generations
      const control = yield* ScriptedGenerator.Control
      const account = yield* openAccount({ credits: 100 })
      const id = yield* create(account)
      yield* control.script(id, { pollErrors: Array.from({ length: 20 }, () => lost) })
      yield* startImpatientWorker
      while ((yield* get(account.id, id)).status !== "failed") yield* TestClock.adjust("1 second")
      const { failure, refunded } = yield* get(account.id, id)
      assert.deepStrictEqual([failure?.code, refunded], ["upstream_error", true])
    }).pipe(Effect.scoped))

  it.effect("is refunded when what comes of it is no image, whatever its driver says it is", () =>
    Effect.gen(function*() {
      const { wait } = yield* Generations
      const generators = yield* Generators.Generators
      const account = yield* openAccount({ credits: 100 })
      const id = yield* create(account)
      const asPage = (generator: Generator.Generator["Service"]): Generator.Generator["Service"] => ({
        ...generator,
        collect: (operation) => Effect.map(generator.collect(operation), (output) => ({ ...output, mime: "text/html" }))
      })
      yield* (yield* ScriptedGenerator.Control).succeed(id)
      yield* Effect.provideService(startImpatientWorker, Generators.Generators, {
        ...generators,
        get: (name) => Option.map(generators.get(name), asPage)
      })
      const { failure, output, refunded } = yield* wait(account.id, id, "60 seconds")
      assert.deepStrictEqual([failure?.code, output, refunded], ["upstream_error", null, true])
    }).pipe(Effect.scoped, TestClock.withLive))

  it.effect("is stopped when the job's time is over", () =>
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
      while ((yield* get(account.id, id)).status === "processing") yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* get(account.id, id)).failure?.code, "time_limit")
    }).pipe(Effect.scoped))
})

layer(layerMemory)("the files of a job that two workers ran", (it) => {
  it.effect("are deleted where they came too late, and kept where they were recorded", () =>
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
      const terms = { worker: "test", kinds: [handler.kind], limit: 1, lease: "1 second" } as const
      const claim = Effect.map(atomically(Effect.tap(scheduler.claim(terms), handler.claimed!)), ([job]) => job!)
      const run = (handler: JobHandler.JobHandler) =>
        handler.prepare((_, settle) => (settlement) => atomically(settle!([settlement])))

      const account = yield* openAccount({ credits: 100 })
      const id = yield* create(account)
      yield* control.succeed(id)
      const first = yield* Effect.forkChild(run(slow)(yield* claim, undefined), { startImmediately: true })
      yield* control.called("collect", id)
      yield* TestClock.adjust("1 second")
      yield* scheduler.rescue(terms)
      const settleSecond = yield* run(handler)(yield* claim, undefined)
      yield* settleSecond
      yield* Deferred.succeed(mayStore, undefined)
      const settleFirst = yield* Fiber.join(first)

      const { key } = (yield* file(id, "content")).file
      const lateKey = key.replace("/2/", "/1/")
      yield* blobs.head(lateKey)
      yield* settleFirst
      while (Exit.isSuccess(yield* Effect.exit(blobs.head(lateKey)))) yield* Effect.yieldNow
      // As when its commit was not heard of: it is told that its lease is lost.
      yield* settleSecond
      yield* Effect.replicateEffect(Effect.yieldNow, 100)
      yield* blobs.head(key)
    }).pipe(Effect.scoped))
})

layer(layerMemory)("a generator that is busy", (it) => {
  it.effect("is asked again when it wants to be, and not before", () =>
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

layer(layerMemory)("a job during an outage of the database", (it) => {
  it.effect("is not given up, but goes on when the database is back", () =>
    Effect.gen(function*() {
      const { get, wait } = yield* Generations
      const control = yield* ScriptedGenerator.Control
      const scheduler = yield* Scheduler.Scheduler
      const store = yield* GenerationStore
      let away: "find" | "checkpoint" | undefined = "find"
      const unless = <A, E>(call: typeof away, effect: Effect.Effect<A, E>) =>
        Effect.suspend((): Effect.Effect<A, E | StorageError.StorageError> =>
          away === call ? Effect.fail(unavailable) : effect
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
      // Longer than anything else is tried for.
      assert.strictEqual(yield* statusAfter("2 minutes"), "processing")
      away = "checkpoint"
      assert.strictEqual(yield* statusAfter("2 minutes"), "processing")
      away = undefined
      yield* TestClock.adjust("10 seconds")
      // From here on the files are made, which takes no time of the test's clock.
      assert.strictEqual((yield* wait(account.id, id, "1 minute")).status, "completed")
    }).pipe(Effect.scoped))
})

const unavailable = new StorageError.StorageError({ operation: "test", reason: "unavailable", cause: "test" })

const create = Effect.fnUntraced(function*(account: Parameters<typeof request>[0]) {
  const { create } = yield* Generations
  return (yield* create(yield* request(account))).generation.id
})

/** A worker that gives its jobs back at once when its scope closes. */
const startImpatientWorker = Effect.gen(function*() {
  const handler: JobHandler.JobHandler = yield* GenerationWorker.makeHandler({})
  yield* Layer.build(Worker.layer({ name: "impatient", handlers: [handler], concurrency: 1, grace: 0 }))
})
