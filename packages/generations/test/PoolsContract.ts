/** Workers claim the jobs of the models that they can run, on every backend. */
import { assert, layer } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { Catalog } from "@kinora/catalog"
import { ScriptedGenerator } from "@kinora/generator"
import { Ledger } from "@kinora/ledger"
import { DatabaseTime, UnitOfWork } from "@kinora/persistence"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Lanes, Scheduler } from "@kinora/scheduler"
import { SkewedClock } from "@kinora/testkit"
import * as TestTime from "@kinora/testkit/TestTime"
import { Duration, Effect, Layer, Logger, Metric, Option } from "effect"
import { TestClock } from "effect/testing"
import type { Generation } from "../src/Generation.ts"
import { GenerationId } from "../src/Generation.ts"
import * as GenerationQueue from "../src/GenerationQueue.ts"
import { Generations } from "../src/Generations.ts"
import * as GenerationSweep from "../src/GenerationSweep.ts"
import { addressOf, generationKind } from "../src/internal/jobAddress.ts"
import { type layerMemory, models, openAccount, request, startWorker } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

const [still, redraw] = ["kinora-still", "redraw-1"] as const

/** Creates a job that succeeds as soon as a worker runs it. */
const createNew = Effect.fnUntraced(function*(account: Parameters<typeof request>[0], model: string) {
  const { create } = yield* Generations
  const { generation } = yield* create(yield* request(account, { key: model, model }))
  yield* (yield* ScriptedGenerator.Control).succeed(generation.id)
  return generation
})

/** Waits until the job has ended. */
const ended = Effect.fnUntraced(function*({ account, id }: Generation) {
  const { wait } = yield* Generations
  return yield* wait(account, id, "60 seconds")
})

/** Enqueues the job again without a pool, as releases before pools did. */
const withoutPool = Effect.fnUntraced(function*(generation: Generation) {
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const scheduler = yield* Scheduler.Scheduler
  const address = addressOf(generation)
  yield* atomically(Effect.gen(function*() {
    const lanes = yield* scheduler.load({ lanes: [address], jobs: [address] })
    const cancelled = Lanes.cancel(lanes, address.job)
    if (cancelled._tag === "Failure") return assert.fail(cancelled.failure._tag)
    const payload = { id: generation.id }
    const enqueued = Lanes.enqueue(cancelled.success.state, { ...address, kind: generationKind, payload, cap: 100 })
    if (enqueued._tag === "Failure") return assert.fail(enqueued.failure._tag)
    yield* scheduler.save(enqueued.success.state)
  }))
})

/** A catalog without a model, as that of a worker from before the model was added. */
const catalogWithout = (model: string) => Catalog.make(models.filter(({ id }) => id !== model))

/** Provides a catalog in which the model `redraw` has another id, and its former one as an alias. */
const renamed = Effect.provideServiceEffect(
  Catalog.Catalog,
  Catalog.make(
    models.map((model) => model.id === redraw ? { ...model, id: "redraw-2", aliases: [{ id: redraw }] } : model)
  )
)

export const suite = <E>(name: string, services: Layer.Layer<Services, E>) =>
  layer(services)(`Workers that run some models (${name})`, (it) => {
    it.effect("leave the jobs of other models queued until a worker with the model runs them", () =>
      Effect.gen(function*() {
        const { get } = yield* Generations
        const account = yield* openAccount({ credits: 100 })
        const other = yield* createNew(account, redraw)
        const own = yield* createNew(account, still)
        yield* startWorker(4, { models: [still, "another-services-model"] })
        assert.strictEqual((yield* ended(own)).status, "completed")
        assert.strictEqual((yield* get(account.id, other.id)).status, "queued")
        yield* startWorker(4, { models: [redraw] })
        assert.strictEqual((yield* ended(other)).status, "completed")
      }).pipe(Effect.scoped, TestClock.withLive))

    it.effect("do not fail the jobs of a model that is added while old workers run", () =>
      Effect.gen(function*() {
        const { get } = yield* Generations
        const account = yield* openAccount({ credits: 100 })
        yield* Effect.provideServiceEffect(startWorker(), Catalog.Catalog, catalogWithout(redraw))
        const added = yield* createNew(account, redraw)
        const own = yield* createNew(account, still)
        assert.strictEqual((yield* ended(own)).status, "completed")
        assert.strictEqual((yield* get(account.id, added.id)).status, "queued")
        // The new worker runs both models, those of the old release included.
        yield* startWorker()
        assert.strictEqual((yield* ended(added)).status, "completed")
      }).pipe(Effect.scoped, TestClock.withLive))

    it.effect("run the jobs under a former id of a model, also if they are restricted to the model", () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 100 })
        const older = yield* createNew(account, redraw)
        const queues = yield* GenerationQueue.read.pipe(renamed)
        const modelsOfQueues = queues.map(({ model, queued }) => [model, queued] as const)
        assert.deepInclude(modelsOfQueues, ["redraw-2", 1])
        assert.notInclude(queues.map(({ model }) => model), redraw)
        yield* startWorker(1, { models: ["redraw-2"] }).pipe(renamed)
        const { model, status } = yield* ended(older)
        assert.deepStrictEqual([model, status], [redraw, "completed"])
      }).pipe(Effect.scoped, TestClock.withLive))

    it.effect("run the jobs of an account behind those of models that no worker runs", () =>
      Effect.gen(function*() {
        const { get } = yield* Generations
        const { swapSlots } = yield* GenerationSweep.GenerationSweep
        const account = yield* openAccount({ credits: 1_000 })
        const { create } = yield* Generations
        const createAs = Effect.fnUntraced(function*(model: string, index: number) {
          const { generation } = yield* create(yield* request(account, { key: `${model}-${index}`, model }))
          yield* (yield* ScriptedGenerator.Control).succeed(generation.id)
          return generation
        })
        const { concurrency } = PlanTable.defaults.credits.pro
        const stranded = yield* Effect.forEach(Array.from({ length: concurrency }, (_, n) => n), (n) =>
          createAs(redraw, n))
        const own = yield* createAs(still, 0)
        assert.strictEqual(own.status, "pending")
        yield* startWorker(4, { models: [still] })
        yield* Effect.repeat(swapSlots(100), {
          until: (count) =>
            count > 0
        })
        assert.strictEqual((yield* ended(own)).status, "completed")
        // The freed slot returned to the last of the other jobs.
        const statuses = yield* Effect.forEach(stranded, ({ id }) => get(account.id, id))
        assert.deepStrictEqual(statuses.map(({ status }) => status), stranded.map(() => "queued"))
        const scheduler = yield* Scheduler.Scheduler
        assert.deepStrictEqual(yield* scheduler.verify, [])
        yield* startWorker(4, { models: [redraw] })
        for (const job of stranded) assert.strictEqual((yield* ended(job)).status, "completed")
      }).pipe(Effect.scoped, TestClock.withLive))

    it.effect("show a job as pending while another one has its slot", () =>
      Effect.gen(function*() {
        const { cancel, create, get } = yield* Generations
        const { takeLease } = yield* Scheduler.Scheduler
        const { swapSlots } = yield* GenerationSweep.GenerationSweep
        const account = yield* openAccount({ credits: 1_000 })
        const keys = Array.from({ length: PlanTable.defaults.credits.pro.concurrency }, (_, n) => `stranded-${n}`)
        const createAs = (key: string, model: string) =>
          Effect.flatMap(request(account, { key, model }), create).pipe(Effect.map(({ generation }) => generation.id))
        const stranded = yield* Effect.forEach(keys, (key) => createAs(key, redraw))
        const own = yield* createAs("own", still)
        const kinds = [`generation:${still}`]
        const lease = yield* takeLease({ id: "still", worker: "still", kinds, slots: 1, ttl: "1 hour" })
        yield* Effect.repeat(swapSlots(100), { until: (count) => count === 0 })
        const statuses = yield* Effect.forEach([own, stranded.at(-1)!, stranded[0]!], (id) => get(account.id, id))
        assert.deepStrictEqual(statuses.map(({ status }) => status), ["queued", "pending", "queued"])
        yield* (yield* Scheduler.Scheduler).returnLease(lease)
        yield* Effect.forEach([...stranded, own], (id) => cancel(account.id, id))
      }))

    it.effect("move a job without a pool to the pool of its model if they do not run the model", () =>
      Effect.gen(function*() {
        const { get } = yield* Generations
        const scheduler = yield* Scheduler.Scheduler
        const ledger = yield* Ledger.Ledger
        const account = yield* openAccount({ credits: 100 })
        const older = yield* createNew(account, redraw)
        const own = yield* createNew(account, still)
        yield* withoutPool(older)
        yield* withoutPool(own)
        yield* startWorker(1, { models: [still] })
        assert.strictEqual((yield* ended(own)).status, "completed")
        const [job] = yield* scheduler.find([GenerationId.toUuid(older.id)])
        assert.deepStrictEqual([job!.kind, job!.state, job!.attempt], [`generation:${redraw}`, "queued", 0])
        assert.isNull((yield* get(account.id, older.id)).failure)
        yield* startWorker()
        assert.strictEqual((yield* ended(older)).status, "completed")
        const entries = yield* ledger.entries({ account: account.id, limit: 100 })
        assert.strictEqual(entries.filter(({ reference }) => reference === older.id).length, 1)
      }).pipe(Effect.scoped, TestClock.withLive))
  })

/** On the test clock, separate from workers that use the live clock. */
export const timeSuite = <E>(name: string, services: Layer.Layer<Services, E>) =>
  layer(services)(`Jobs of a model that no worker runs (${name})`, (it) => {
    it.effect("fail with a refund when they have waited for the queue limit", () =>
      Effect.gen(function*() {
        const { get } = yield* Generations
        const { dropStale } = yield* GenerationSweep.GenerationSweep
        const account = yield* openAccount({ credits: 100 })
        const { id } = yield* createNew(account, redraw)
        // With shorter intervals, the worker would renew its lease and search for lost workers thousands of times.
        const intervals = { lease: "1 hour", pollInterval: "10 minutes", rescueInterval: "10 minutes" } as const
        yield* startWorker(4, { models: [still], ...intervals })
        yield* TestTime.advance("23 hours")
        yield* dropStale(10)
        assert.strictEqual((yield* get(account.id, id)).status, "queued")
        yield* TestTime.advance("2 hours")
        yield* dropStale(10)
        const { failure, refunded } = yield* get(account.id, id)
        assert.deepStrictEqual([failure?.code, refunded], ["queue_timeout", true])
      }).pipe(Effect.scoped))

    it.effect("fail with a refund at their time limit if a worker started them and was lost", () =>
      Effect.gen(function*() {
        const { get } = yield* Generations
        const scheduler = yield* Scheduler.Scheduler
        const account = yield* openAccount({ credits: 100 })
        const { id } = yield* createNew(account, redraw)
        const lost = { worker: "lost", kinds: [`generation:${redraw}`] }
        const lease = yield* scheduler.takeLease({ ...lost, id: "lost", slots: 1, ttl: "30 seconds" })
        assert.strictEqual((yield* scheduler.claim({ ...lost, lease, limit: 1 })).length, 1)
        yield* startWorker(4, { models: [still], pollInterval: "10 minutes" })
        yield* TestTime.until(Effect.map(get(account.id, id), ({ failure }) => failure !== null), { step: "1 minute" })
        const { failure, refunded } = yield* get(account.id, id)
        assert.deepStrictEqual([failure?.code, refunded], ["time_limit", true])
      }).pipe(Effect.scoped))
  })

/** A logger that keeps messages with a level of warning. */
const makeWarnings = Effect.sync(() => {
  const warnings: Array<unknown> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
    if (logLevel === "Warn") warnings.push(message)
  })
  return { warnings, layer: Logger.layer([logger]) }
})

/** Gauges of a model. */
const gaugesOf = (model: string) =>
  Effect.map(
    Metric.snapshot,
    (snapshots) =>
      Object.fromEntries(snapshots.flatMap((metric) =>
        metric.type === "Gauge" && metric.attributes?.["model"] === model
          ? [[[metric.id, metric.attributes["state"] ?? ""].join(" ").trim(), Number(metric.state.value)]]
          : []
      ))
  )

export const queueSuite = <E>(name: string, services: Layer.Layer<Services, E>) =>
  layer(services.pipe(Layer.provideMerge(Layer.sync(Metric.MetricRegistry, () => new Map()))))(
    `Queues of models (${name})`,
    (it) => {
      it.effect("show the jobs and the workers of each model, and warn once of a model without workers", () =>
        Effect.gen(function*() {
          const account = yield* openAccount({ credits: 100 })
          const waiting = yield* createNew(account, redraw)
          const done = yield* createNew(account, still)
          yield* startWorker(4, { models: [still] })
          yield* ended(done)
          const { layer, warnings } = yield* makeWarnings
          yield* Effect.provide(Layer.build(GenerationQueue.layerMonitor({ interval: "10 millis" })), layer)
          /** Reads the gauges until the condition holds. */
          const gaugesWhen = (holds: (gauges: Readonly<Record<string, number>>) => boolean) =>
            Effect.andThen(GenerationQueue.read, gaugesOf(redraw)).pipe(Effect.repeat({ until: holds }))

          const gauges = yield* gaugesWhen(() => warnings.length > 0)
          assert.isAbove(gauges["kinora_queue_oldest_seconds"] ?? 0, 0)
          assert.deepStrictEqual({ ...gauges, kinora_queue_oldest_seconds: 1 }, {
            "kinora_queue_jobs pending": 0,
            "kinora_queue_jobs queued": 1,
            "kinora_queue_jobs processing": 0,
            "kinora_queue_oldest_seconds": 1,
            "kinora_queue_workers": 0
          })
          const none = { pending: 0, queued: 0, processing: 0, isQueued: false, workers: 0 }
          const queues = yield* GenerationQueue.read.pipe(
            Effect.repeat({ until: (queues) => queues.some(({ workers }) => workers > 0) })
          )
          assert.includeDeepMembers(
            queues.map(({ oldestWait, ...queue }) => ({ ...queue, isQueued: Option.isSome(oldestWait) })),
            [
              { ...none, model: still, workers: 1 },
              { ...none, model: redraw, queued: 1, isQueued: true },
              { ...none, model: "video-1" }
            ]
          )

          yield* startWorker(4, { models: [redraw] })
          yield* ended(waiting)
          const after = yield* gaugesWhen((gauges) => gauges["kinora_queue_workers"] === 1)
          assert.strictEqual(after["kinora_queue_oldest_seconds"], 0)
          assert.deepStrictEqual(warnings, [["Jobs wait for models that no worker runs", { models: [redraw] }]])
        }).pipe(Effect.scoped, TestClock.withLive))

      it.effect("measure the wait of the oldest job by the clock of the database", () =>
        Effect.gen(function*() {
          const account = yield* openAccount({ credits: 100 })
          yield* createNew(account, redraw)
          yield* TestClock.adjust("30 seconds")
          for (const skew of [120_000, -120_000]) {
            const queues = yield* SkewedClock.onHost(DatabaseTime.DatabaseClock, skew)(GenerationQueue.read)
            const waits = queues.filter(({ model }) => model === redraw).map(({ oldestWait }) => oldestWait)
            assert.deepStrictEqual(waits, [Option.some(Duration.seconds(30))])
          }
        }))
    }
  )
