/** The status of models while their upstreams fail, on every backend. */
import { assert, layer } from "@effect/vitest"
import { Catalog, type Model } from "@kinora/catalog"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Scheduler } from "@kinora/scheduler"
import * as TestTime from "@kinora/testkit/TestTime"
import { DateTime, Duration, Effect, Exit, type Layer, Option, Scope } from "effect"
import { Generations } from "../src/Generations.ts"
import { ModelStatuses } from "../src/ModelStatuses.ts"
import { UpstreamReports } from "../src/UpstreamReports.ts"
import { type layerMemory, models, openAccount, request } from "./Assembly.ts"
import { createJobs, denied, ended, makeUpstream, start, type Upstream } from "./Upstreams.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

const still = "kinora-still"

/** The circuit opens for 10 seconds, and for 20 after a test that fails. */
const limits = { failures_max: 3, open_time: "10 seconds", pause_after: "1 second" }

/** Drivers of the model under test. */
const first: Model.ModelInput["driver"] = { name: "first" }
const both: Model.ModelInput["driver"] = { name: "first", fallbacks: [{ name: "second" }] }

/** Returns the status of the model in a catalog in which it has this driver. */
const statusWith = (driver: Model.ModelInput["driver"], configured: Model.ModelInput["status"] = "available") =>
  Effect.gen(function*() {
    const { find } = yield* Catalog.make(
      models.map((model) => model.id === still ? { ...model, driver, status: configured } : model)
    )
    const statusOf = yield* (yield* ModelStatuses).current
    return statusOf(Option.getOrThrow(find(still)))
  })

/** Moves the clock until the model has the status. */
const untilStatus = (driver: Model.ModelInput["driver"], expected: Model.Model["status"]) =>
  TestTime.until(Effect.map(statusWith(driver), ({ status }) => status === expected))

/** Returns the statuses that the model has while the clock moves by 15 seconds. */
const seen = Effect.fnUntraced(function*(driver: Model.ModelInput["driver"]) {
  const statuses = new Set<string>()
  for (let second = 0; second < 15; second++) {
    statuses.add((yield* statusWith(driver)).status)
    yield* TestTime.pass("1 second")
  }
  return statuses
})

/** Starts a worker with an id. It submits to the first upstream, and to the second one if there is one. */
const startAs = (worker: string, driver: Model.ModelInput["driver"], one: Upstream, other?: Upstream) =>
  start({
    worker,
    upstreams: other === undefined ? { first: one } : { first: one, second: other },
    drivers: { [still]: driver }
  })

/** Makes an upstream that fails every job at once. */
const makeFailing = (pauseAfter = limits.pause_after) =>
  Effect.tap(makeUpstream({ limits: { ...limits, pause_after: pauseAfter } }), ({ outage }) =>
    Effect.sync(() => {
      outage.reason = denied
    }))

/** Runs the jobs that open the circuit of an upstream that fails. */
const open = Effect.andThen(createJobs(still, 3), ended)

/** Returns the reports that hold. */
const reported = Effect.gen(function*() {
  const { list } = yield* UpstreamReports
  return yield* list(yield* DateTime.now)
})

export const statusSuite = <E>(name: string, services: Layer.Layer<Services, E>) =>
  layer(services)(`The status of a model (${name})`, (it) => {
    it.effect("follows its upstream, which is degraded, paused, tested and available", () =>
      Effect.gen(function*() {
        const main = yield* makeFailing("15 seconds")
        yield* startAs("follows", first, main)
        assert.strictEqual((yield* statusWith(first)).status, "available")
        yield* open
        assert.isFalse((yield* seen(first)).has("paused"))
        // Longer than a report holds without renewal.
        yield* TestTime.pass("30 seconds")
        assert.strictEqual((yield* statusWith(first)).status, "degraded")
        // The test fails, more than 15 seconds after the circuit has opened.
        yield* ended(yield* createJobs(still, 1))
        yield* untilStatus(first, "paused")
        const now = yield* DateTime.now
        const left = Option.match((yield* statusWith(first)).retryAt, {
          onNone: () => Duration.zero,
          onSome: (at) => DateTime.distance(now, at)
        })
        assert.isTrue(Duration.isPositive(left))
        yield* TestTime.pass(Duration.subtract(left, Duration.millis(1)))
        assert.strictEqual((yield* statusWith(first)).status, "paused")
        yield* TestTime.advance("1 millis")
        assert.strictEqual((yield* statusWith(first)).status, "degraded")
        main.outage.reason = undefined
        yield* ended(yield* createJobs(still, 1))
        yield* untilStatus(first, "available")
        assert.deepStrictEqual(yield* reported, [])
      }).pipe(Effect.scoped))

    it.effect("is degraded while another worker of the model works", () =>
      Effect.gen(function*() {
        const [broken, healthy] = [yield* makeFailing(), yield* makeUpstream({ limits })]
        yield* startAs("broken", first, broken)
        yield* open
        yield* startAs("healthy", first, healthy)
        yield* TestTime.until(Effect.map(reported, (reports) => reports.some(({ status }) => status === "paused")))
        const statuses = yield* seen(first)
        assert.isTrue(statuses.has("degraded"))
        assert.isFalse(statuses.has("paused"))
      }).pipe(Effect.scoped))

    it.effect("is degraded while a fallback works", () =>
      Effect.gen(function*() {
        yield* startAs("falls-back", both, yield* makeFailing(), yield* makeUpstream({ limits }))
        yield* open
        yield* TestTime.until(Effect.map(reported, (reports) => reports.some(({ status }) => status === "paused")))
        const statuses = yield* seen(both)
        assert.isTrue(statuses.has("degraded"))
        assert.isFalse(statuses.has("paused"))
      }).pipe(Effect.scoped))

    it.effect("is paused when the fallback fails as well", () =>
      Effect.gen(function*() {
        yield* startAs("both", both, yield* makeFailing(), yield* makeFailing())
        yield* open
        yield* untilStatus(both, "paused")
      }).pipe(Effect.scoped))

    it.effect("is not changed by a worker that has stopped", () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        yield* Scope.provide(startAs("stops", first, yield* makeFailing()), scope)
        yield* open
        yield* untilStatus(first, "paused")
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(yield* reported, [])
        yield* untilStatus(first, "available")
      }).pipe(Effect.scoped))

    it.effect("is not changed by a lost worker after its report has expired", () =>
      Effect.gen(function*() {
        const { put } = yield* UpstreamReports
        const scheduler = yield* Scheduler.Scheduler
        // The offer of the worker outlives its report.
        const offer = { id: "lost", worker: "lost", kinds: [`generation:${still}`], slots: 1 }
        const lease = yield* scheduler.takeLease({ ...offer, ttl: "1 hour" })
        const now = yield* DateTime.now
        const [retryAt, expiry] = [DateTime.add(now, { minutes: 10 }), DateTime.add(now, { seconds: 30 })]
        yield* put("lost", [{ worker: "lost", upstream: "first", status: "paused", retryAt, until: expiry }], now)
        yield* TestTime.pass("29 seconds")
        assert.strictEqual((yield* statusWith(first)).status, "paused")
        // The reports are read again within 5 seconds.
        yield* TestTime.pass("6 seconds")
        assert.strictEqual((yield* statusWith(first)).status, "available")
        yield* scheduler.returnLease(lease)
      }))

    it.effect("is not changed by reports of workers that do not offer the model", () =>
      Effect.gen(function*() {
        const { put, remove } = yield* UpstreamReports
        const now = yield* DateTime.now
        const at = DateTime.add(now, { minutes: 10 })
        yield* put("unknown", [{ worker: "unknown", upstream: "first", status: "paused", retryAt: at, until: at }], now)
        yield* TestTime.pass("6 seconds")
        assert.strictEqual((yield* statusWith(first)).status, "available")
        yield* remove("unknown", ["first"])
      }))

    it.effect("is the one of the catalog if that is worse", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* statusWith(first, "degraded"), { status: "degraded", retryAt: Option.none() })
        yield* startAs("worse", first, yield* makeFailing())
        yield* open
        yield* untilStatus(first, "paused")
        assert.strictEqual((yield* statusWith(first, "degraded")).status, "paused")
        assert.deepStrictEqual(yield* statusWith(first, "paused"), { status: "paused", retryAt: Option.none() })
      }).pipe(Effect.scoped))
  })

export const refusalSuite = <E>(name: string, services: Layer.Layer<Services, E>) =>
  layer(services)(`A model that is paused because its upstream fails (${name})`, (it) => {
    it.effect("accepts no job until a test is due, and the refused key can be used then", () =>
      Effect.gen(function*() {
        const { create } = yield* Generations
        // The driver of the models of these services.
        const driver = { name: "scripted" }
        const scripted = yield* makeFailing()
        yield* start({ worker: "refuses", upstreams: { scripted }, drivers: { [still]: driver } })
        yield* open
        yield* untilStatus(driver, "paused")
        const command = yield* request(yield* openAccount({ credits: 100 }), { key: "again", model: still })
        const refused = yield* Effect.flip(create(command))
        if (refused._tag !== "GenerationError" || refused.reason._tag !== "ModelUnavailable") {
          return assert.fail(refused.message)
        }
        const { retryAfter } = refused.reason
        if (retryAfter === null) return assert.fail("The refusal has no time")
        assert.isAtLeast(Duration.toMillis(retryAfter), 1000)
        scripted.outage.reason = undefined
        yield* TestTime.pass(retryAfter)
        const { generation, replayed } = yield* create(command)
        assert.isFalse(replayed)
        assert.deepStrictEqual((yield* ended([generation])).map(({ status }) => status), ["completed"])
        yield* untilStatus(driver, "available")
      }).pipe(Effect.scoped))
  })
