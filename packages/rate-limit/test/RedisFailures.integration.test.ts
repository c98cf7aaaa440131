/** Limits in Redis while it fails: what is counted, and which places are taken. */
import { assert, describe, it } from "@effect/vitest"
import { TestRedis } from "@kinora/testkit"
import { Duration, Effect, Exit, Layer, Scope } from "effect"
import * as Redis from "effect/persistence/Redis"
import { once } from "node:events"
import { connect as connectTo, createServer, type Socket } from "node:net"
import { dirname, join } from "node:path"
import { createClient } from "redis"
import { Limits, Places, RateLimit, RedisRateLimitStore } from "../src/index.ts"
import { layer as layerClient } from "../src/internal/redis/client.ts"
import { RateLimitStore } from "../src/RateLimitStore.ts"

/** Opens a client of `redis` on a socket. */
const connect = Effect.fnUntraced(function*(path: string) {
  const client = createClient({ socket: { path, tls: false, reconnectStrategy: 5 } })
  client.on("error", () => {})
  yield* Effect.acquireRelease(Effect.promise(() => client.connect()), () => Effect.sync(() => client.destroy()))
  return client
})

/** Waits for an event. Unlike `once` of Node, it is not rejected by `error`, which the client emits while it reconnects. */
const eventOf = (client: Effect.Success<ReturnType<typeof connect>>, event: "ready" | "reconnecting") =>
  new Promise<void>((resolve) => void client.once(event, resolve))

const redisOf = (path: string) => Layer.unwrap(Effect.map(connect(path), layerClient))

/** Accepts connections at a path and passes them on to a server, until the scope closes. */
const openGate = (path: string, server: TestRedis.TestRedis) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<Socket>()
      const gate = createServer((socket) => {
        const upstream = connectTo(server.socket)
        for (const end of [socket, upstream]) sockets.add(end.on("error", () => {}))
        socket.pipe(upstream).pipe(socket)
      })
      await once(gate.listen(path), "listening")
      return () => {
        gate.close()
        for (const socket of sockets) socket.destroy()
      }
    }),
    (close) => Effect.sync(close)
  )

/** Limits whose calls fail soon. They have the scripts that other limits on the same Redis have loaded. */
const impatient = Limits.layerRedis({ deadline: "100 millis" })

const suite = () => {
  it.live("counts a hit at most once if another program uses a key of its set", () =>
    Effect.gen(function*() {
      const { send } = yield* Redis.Redis
      const { hit } = yield* RateLimit.RateLimit
      yield* send("SET", "limits:minute:taken", "text")
      // The first hit runs by itself. The others wait for it, and are one set.
      const exits = yield* Effect.forEach(
        ["first", "taken", "ada"],
        (key) => Effect.exit(hit({ key, limit: 5 })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(exits.slice(0, 2).map(Exit.isSuccess), [true, false])
      assert.strictEqual(yield* send("HGET", "limits:minute:ada", "used"), "1")
    }).pipe(Effect.provide(Layer.unwrap(Effect.map(TestRedis.start, ({ socket }) =>
      Limits.layerRedis().pipe(Layer.provideMerge(redisOf(socket))))))))

  it.live("grants a place again if a client sends the request for it again", () =>
    Effect.gen(function*() {
      const { acquire, held } = yield* RateLimitStore
      const request = { id: "a", key: "sent twice", max: 1, lasts: Duration.hours(1) }
      assert.strictEqual((yield* acquire([request])).length, 1)
      assert.strictEqual((yield* acquire([request])).length, 1)
      assert.strictEqual((yield* acquire([{ ...request, id: "b" }])).length, 0)
      assert.strictEqual(yield* held("sent twice"), 1)
    }).pipe(Effect.provide(Layer.unwrap(Effect.map(TestRedis.start, ({ socket }) =>
      Layer.provide(RedisRateLimitStore.layer, redisOf(socket)))))))

  it.live("takes no place for a request that has failed", () =>
    Effect.gen(function*() {
      const server = yield* TestRedis.start
      const redis = yield* Layer.build(redisOf(server.socket))
      const patientPlaces = yield* Layer.build(Limits.layerRedis()).pipe(Effect.provideContext(redis))
      const impatientPlaces = yield* Layer.build(impatient).pipe(Effect.provideContext(redis))
      const acquireFor = (key: string) =>
        Places.Places.use((places) => places.acquireFor({ key, max: 1, lasts: "1 hour" }))
      assert.isTrue(yield* Effect.provideContext(acquireFor("other"), patientPlaces))
      yield* server.freeze
      const { reason } = yield* Effect.flip(Effect.provideContext(acquireFor("ada"), impatientPlaces))
      assert.strictEqual(reason, "unavailable")
      yield* server.resume
      assert.isTrue(yield* Effect.provideContext(acquireFor("ada"), patientPlaces))
    }).pipe(Effect.scoped))

  it.live("refuses a place of a scope in time while Redis does not respond", () =>
    Effect.gen(function*() {
      const server = yield* TestRedis.start
      const redis = yield* Layer.build(redisOf(server.socket))
      const impatientPlaces = yield* Layer.build(impatient).pipe(Effect.provideContext(redis))
      const patientPlaces = yield* Layer.build(Limits.layerRedis()).pipe(Effect.provideContext(redis))
      const acquire = (key: string) => Effect.scoped(Places.Places.use((places) => places.acquire({ key, max: 1 })))
      assert.isTrue(yield* Effect.provideContext(acquire("other"), patientPlaces))
      yield* server.freeze
      const { reason } = yield* Effect.flip(Effect.provideContext(acquire("ada"), impatientPlaces))
      assert.strictEqual(reason, "unavailable")
      yield* server.resume
      assert.isTrue(yield* Effect.provideContext(acquire("ada"), patientPlaces))
    }).pipe(Effect.scoped))

  it.live("does not count a hit later that has failed while a client of `redis` was not connected", () =>
    Effect.gen(function*() {
      const server = yield* TestRedis.start
      const path = join(dirname(server.socket), "gate.sock")
      const gate = yield* Scope.make()
      yield* Scope.provide(openGate(path, server), gate)
      const client = yield* connect(path)
      const redis = yield* Layer.build(layerClient(client))
      const limits = yield* Layer.build(impatient).pipe(Effect.provideContext(redis))
      const patient = yield* Layer.build(Limits.layerRedis()).pipe(Effect.provideContext(redis))
      const hit = (key: string) => RateLimit.RateLimit.use((service) => service.hit({ key, limit: 5 }))
      assert.isTrue((yield* Effect.provideContext(hit("other"), patient)).accepted)

      const lost = eventOf(client, "reconnecting")
      yield* Scope.close(gate, Exit.void)
      yield* Effect.promise(() => lost)
      const { reason } = yield* Effect.flip(Effect.provideContext(hit("ada"), limits))
      assert.strictEqual(reason, "unavailable")
      const connected = eventOf(client, "ready")
      yield* openGate(path, server)
      yield* Effect.promise(() => connected)
      assert.strictEqual((yield* Effect.provideContext(hit("ada"), patient)).remaining, 4)
    }).pipe(Effect.scoped))
}

if (TestRedis.isInstalled) describe("Redis", suite)
else it("limits in Redis that fails", (context) => context.skip("NOT TESTED: redis-server is not installed"))
