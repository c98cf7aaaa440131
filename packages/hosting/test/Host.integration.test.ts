import { assert, it } from "@effect/vitest"
import { DatabaseTime, Sweep } from "@kinora/persistence"
import { JobKind, Scheduler } from "@kinora/scheduler"
import { SkewedClock, TestDatabase } from "@kinora/testkit"
import { Deferred, Duration, Effect, Exit, Fiber, Layer, Queue, Schema, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import * as Host from "../src/Host.ts"
import * as Settings from "../src/Settings.ts"

const kind = JobKind.make({ name: "test", payload: Schema.Struct({}) })
const job = "00000000-0000-4000-8000-000000000001"

/** Returns what a new worker asks for. */
const termsOf = Effect.fnUntraced(function*(scheduler: Scheduler.Scheduler["Service"], id: string) {
  const worker = { worker: "test", kinds: [kind.name] }
  return { ...worker, limit: 10, lease: yield* scheduler.takeLease({ ...worker, id, slots: 1, ttl: "1 hour" }) }
})

/** A directory that is deleted when the scope closes. */
const makeDirectory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-host-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true }))
)

it.live(
  "takes over the jobs of the previous process immediately if the database is embedded",
  () =>
    Effect.gen(function*() {
      const directory = yield* makeDirectory
      yield* TestDatabase.unpackPglite(join(directory, "database"))
      const settings = yield* Settings.load({ KINORA_DATA_DIR: directory })
      const inProcess = <A, E>(use: (scheduler: Scheduler.Scheduler["Service"]) => Effect.Effect<A, E>) =>
        Scheduler.Scheduler.use(use).pipe(Effect.provide(Layer.fresh(Host.layer(settings))))

      yield* inProcess((scheduler) =>
        Effect.gen(function*() {
          yield* scheduler.enqueue({ job, lane: "lane", group: "group", kind, payload: {}, cap: 1 })
          assert.strictEqual((yield* scheduler.claim(yield* termsOf(scheduler, "first"))).length, 1)
          const other = yield* termsOf(scheduler, "other")
          assert.deepStrictEqual(yield* scheduler.rescue(other), { requeued: [], exhausted: [] })
        })
      )
      const { requeued } = yield* inProcess((scheduler) => Effect.flatMap(termsOf(scheduler, "next"), scheduler.rescue))
      assert.deepStrictEqual(requeued.map(({ job }) => job), [job])
    }).pipe(Effect.scoped),
  180_000
)

/** Environment of a host on a new database of the Postgres server. */
const makeEnvironment = Effect.gen(function*() {
  return { KINORA_DATA_DIR: yield* makeDirectory, KINORA_DATABASE_URL: yield* TestDatabase.postgresUrl }
})

it.live("applies the limits of its settings to the sessions on Postgres and to the skew of the clocks", () =>
  Effect.gen(function*() {
    const environment = yield* makeEnvironment
    const start = (limits: Readonly<Record<string, string>>) =>
      Effect.gen(function*() {
        const settings = yield* Settings.load({ ...environment, ...limits })
        return yield* Effect.provide(
          SqlClient.SqlClient.use((sql) =>
            sql`
              SELECT
                current_setting('lock_timeout') AS lock,
                current_setting('idle_in_transaction_session_timeout') AS idle
            `
          ),
          Layer.fresh(Host.layer(settings))
        )
      })
    assert.deepStrictEqual(yield* start({}), [{ lock: "300ms", idle: "1s" }])
    const limits = { KINORA_DATABASE_LOCK_MILLISECONDS: "450", KINORA_DATABASE_IDLE_MILLISECONDS: "2500" }
    assert.deepStrictEqual(yield* start(limits), [{ lock: "450ms", idle: "2500ms" }])

    const skewed = (limits: Readonly<Record<string, string>>) =>
      SkewedClock.onHost(DatabaseTime.DatabaseClock, 10_000)(start(limits))
    assert.propertyVal(yield* Effect.flip(skewed({ KINORA_CLOCK_SKEW_SECONDS: "9" })), "_tag", "ClockSkewed")
    yield* skewed({ KINORA_CLOCK_SKEW_SECONDS: "12" })
  }).pipe(Effect.scoped))

it.live("applies the limits of its settings to sweeps and to connections", () =>
  Effect.gen(function*() {
    const limits = {
      KINORA_PORT: "0",
      KINORA_ADMIN_PORT: "0",
      KINORA_MAX_CONNECTIONS: "16",
      KINORA_MAX_CONNECTIONS_PER_ADDRESS: "3",
      KINORA_TRUSTED_PROXIES: "127.0.0.2/32",
      KINORA_SWEEP_SECONDS: "77"
    }
    const settings = yield* Settings.load({ ...yield* makeEnvironment, ...limits })
    /** Starts a host, and returns the deadline of one of its sweeps. */
    const start = Effect.fnUntraced(function*<A, E>(host: Layer.Layer<A, E>) {
      const deadlines = yield* Queue.unbounded<Duration.Input>()
      // Runs in the fiber of each sweep.
      const pause = Effect.andThen(
        Effect.flatMap(Sweep.Deadline, (deadline) => Queue.offer(deadlines, deadline)),
        Effect.never
      )
      yield* Layer.build(Layer.fresh(host)).pipe(Effect.provideService(Sweep.Pause, () => pause))
      return yield* Queue.take(deadlines)
    })
    const origin = yield* Deferred.make<string>()
    const server = Host.layerServer(settings, (listening) => Deferred.succeed(origin, listening))
    assert.deepStrictEqual(yield* start(server), Duration.seconds(77))
    assert.deepStrictEqual(yield* start(Host.layerWorker(settings)), Duration.seconds(77))

    const { hostname, port } = new URL(yield* Deferred.await(origin))
    const openFrom = (localAddress: string) =>
      Effect.acquireRelease(
        Effect.sync(() => connect({ port: Number(port), host: hostname, localAddress })),
        (socket) => Effect.sync(() => socket.destroy())
      )
    const use = Effect.fnUntraced(function*(socket: Socket) {
      socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
      yield* Effect.promise(() => once(socket, "data"))
    })
    const refused = Effect.fnUntraced(function*(localAddress: string) {
      const socket = yield* openFrom(localAddress)
      assert.strictEqual(yield* Effect.promise(() => text(socket)), "")
    })
    for (let count = 0; count < 3; count++) yield* use(yield* openFrom("127.0.0.1"))
    yield* refused("127.0.0.1")
    for (let count = 3; count < 16; count++) yield* use(yield* openFrom("127.0.0.2"))
    yield* refused("127.0.0.2")
  }).pipe(Effect.scoped))

it.live("ends open requests after the grace of its settings", () =>
  Effect.gen(function*() {
    const limits = {
      KINORA_PORT: "0",
      KINORA_ADMIN_PORT: "0",
      KINORA_REQUEST_GRACE_SECONDS: "0",
      KINORA_JOB_GRACE_SECONDS: "0"
    }
    const settings = yield* Settings.load({ ...yield* makeEnvironment, ...limits })
    const origin = yield* Deferred.make<string>()
    const scope = yield* Scope.make()
    const server = Host.layerServer(settings, (listening) => Deferred.succeed(origin, listening))
    yield* Layer.buildWithScope(Layer.fresh(server), scope)
    const { host, hostname, port } = new URL(yield* Deferred.await(origin))
    const socket = connect({ port: Number(port), host: hostname })
    const lines = [
      "POST /console/v1/session HTTP/1.1",
      `host: ${host}`,
      `origin: http://${host}`,
      "content-type: application/json",
      "content-length: 100",
      "expect: 100-continue"
    ]
    socket.write(`${lines.join("\r\n")}\r\n\r\n`)
    // The server waits for the body.
    const [continued] = yield* Effect.promise(() => once(socket, "data"))
    assert.match(String(continued), /^HTTP\/1.1 100 /)
    const response = yield* Effect.forkChild(Effect.promise(() => text(socket)), { startImmediately: true })
    yield* Scope.close(scope, Exit.void)
    // A body that is late by itself gets 408.
    assert.match(yield* Fiber.join(response), /^HTTP\/1.1 503 /)
  }).pipe(Effect.scoped))
