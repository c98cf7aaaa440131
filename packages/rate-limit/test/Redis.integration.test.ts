import { assert, describe, it, layer } from "@effect/vitest"
import { Example, TestRedis, TestTime } from "@kinora/testkit"
import { Clock, Effect, Layer, Schema, type Scope } from "effect"
import * as Redis from "effect/persistence/Redis"
import { TestClock } from "effect/testing"
import { Redis as IoRedis } from "ioredis"
import { createClient } from "redis"
import { Limits, Places, RateLimit, RedisRateLimitStore } from "../src/index.ts"
import * as Buckets from "../src/internal/buckets.ts"
import * as Counter from "../src/internal/counter.ts"
import * as NoUnits from "../src/internal/noUnits.ts"
import { layer as layerClient } from "../src/internal/redis/client.ts"
import { createLimits } from "../src/promise.ts"
import { RateLimitStore } from "../src/RateLimitStore.ts"
import { suite as contract } from "../src/testing.ts"
import * as AdvancesContract from "./AdvancesContract.ts"
import * as AlgorithmsContract from "./AlgorithmsContract.ts"
import * as Backend from "./Backend.ts"
import * as BudgetContract from "./BudgetContract.ts"
import * as PlacesContract from "./PlacesContract.ts"
import * as RateLimitContract from "./RateLimitContract.ts"
import { ofRedis } from "./Traits.ts"
import * as WaitsContract from "./WaitsContract.ts"
import * as WindowsContract from "./WindowsContract.ts"

/** Connects to a server. */
const connect = Effect.fnUntraced(function*({ socket }: TestRedis.TestRedis) {
  const client = createClient({ socket: { path: socket, tls: false } })
  client.on("error", () => {})
  yield* Effect.acquireRelease(Effect.promise(() => client.connect()), () => Effect.sync(() => client.destroy()))
  return client
})

/**
 * Redis on a server of its own, whose calls `TestTime` waits for. Its pool of connections sleeps in real time, since a test
 * that moves the `TestClock` by a month would wake it thousands of times.
 */
const redis = Layer.unwrap(Effect.gen(function*() {
  const client = yield* connect(yield* TestRedis.start)
  return layerClient({ sendCommand: (command) => TestRedis.during(() => client.sendCommand(command)) })
})).pipe(Layer.provide(Layer.succeed(Clock.Clock, Clock.Clock.defaultValue())))

const backend = Layer.merge(RedisRateLimitStore.layer, NoUnits.layer).pipe(Layer.provideMerge(redis))

const suite = () => {
  contract("Redis", backend, ofRedis)
  RateLimitContract.suite("Redis", backend, ofRedis)
  PlacesContract.suite("Redis", backend, ofRedis)
  BudgetContract.suite("Redis", backend, ofRedis)
  AdvancesContract.suite("Redis", backend, ofRedis)
  WaitsContract.suite("Redis", backend, ofRedis)
  WindowsContract.suite("Redis", backend)
  AlgorithmsContract.suite("Redis", backend)

  const test = <E>(name: string, body: () => Effect.Effect<void, E, Scope.Scope>) => it.effect(name, body)

  /** A step of time, then a take. */
  const Step = Schema.Struct({
    passes: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4_000 })),
    cost: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 })),
    limit: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 })),
    takes: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })),
    /** Whether to add an amount instead. */
    adds: Schema.Boolean
  })

  layer(backend)("rules", (it) => {
    for (
      const [name, kind, window] of [
        ["minutes", "minute", Counter.windows.minute],
        ["days", "day", Counter.windows.day],
        ["fixed windows", "window", { length: 2_000, parts: 1 }],
        ["sliding windows", "window", { length: 2_000, parts: 20 }],
        ["token buckets", "bucket", { length: 2_000, parts: 1 }]
      ] as const
    ) {
      let key = 0
      it.effect.prop(
        `decides like the rules in memory (${name})`,
        [Schema.Array(Step).check(Schema.isMaxLength(12))],
        ([steps]) =>
          Effect.gen(function*() {
            const inRedis = yield* RateLimitStore
            const inMemory = yield* Effect.provide(RateLimitStore, Backend.memory)
            const counted = { key: String(key++), window }
            const scale = kind === "day" ? 20_000 : kind === "minute" ? 20 : 1
            for (const { adds, cost, limit, passes, takes } of steps) {
              yield* TestClock.adjust(passes * scale)
              if (adds && kind !== "bucket" && window.parts === 1) {
                const [{ period } = { period: 0 }] = yield* inMemory.read(kind, [counted])
                for (const store of [inRedis, inMemory]) {
                  yield* store.add(kind, [{ key: counted.key, period, amount: kind === "window" ? -cost : cost - 2 }])
                }
              } else {
                const demand = { ...counted, cost, limit, takes }
                assert.deepStrictEqual(yield* inRedis.take(kind, [demand]), yield* inMemory.take(kind, [demand]))
              }
              const seen = (store: typeof inRedis) =>
                Effect.map(store.read(kind, [counted]), (counters) =>
                  counters.map((counter) =>
                    kind === "bucket" ? Buckets.seenBy({ ...counted, cost, limit }, counter) : counter
                  ))
              assert.deepStrictEqual(yield* seen(inRedis), yield* seen(inMemory))
            }
          }),
        { arbitrary: { runs: 60 } }
      )
    }
  })

  test("keeps numbers up to 2^53 exactly", () =>
    Effect.gen(function*() {
      const { take } = yield* RateLimitStore
      const window = { length: 1_000, parts: 20 }
      const limit = Number.MAX_SAFE_INTEGER
      const demand = { key: "large", window, limit, takes: 1 }
      yield* take("window", [{ ...demand, cost: limit - 1 }])
      const [grant] = yield* take("window", [{ ...demand, cost: 1 }])
      assert.deepStrictEqual([grant?.used, grant?.granted], [limit, 1])
    }).pipe(Effect.provide(backend)))

  it.live("deletes by itself what no longer counts", () =>
    Effect.gen(function*() {
      const { send } = yield* Redis.Redis
      const { hit } = yield* RateLimit.RateLimit
      const { acquireFor } = yield* Places.Places
      for (const algorithm of ["fixedWindow", "slidingWindow", "tokenBucket"] as const) {
        yield* hit({ key: algorithm, limit: 5, window: "1 second", algorithm })
      }
      yield* hit({ key: "minute", limit: 5 })
      yield* acquireFor({ key: "place", max: 1, lasts: "1 second" })
      const keys = yield* send<ReadonlyArray<string>>("KEYS", "*")
      assert.strictEqual(keys.length, 5)
      const most: Readonly<Record<string, number>> = { "limits:minute:minute": 120_000 }
      for (const key of keys) {
        const left = Number(yield* send("PTTL", key))
        assert.isTrue(left > 0 && left <= (most[key] ?? 3_000), `${key} expires in ${left} ms`)
      }
    }).pipe(Effect.provide(Limits.layerRedis().pipe(Layer.provideMerge(redis)))))

  test("fails permanently if a key is of another program", () =>
    Effect.gen(function*() {
      const { send } = yield* Redis.Redis
      const { hit } = yield* RateLimit.RateLimit
      yield* send("SET", "limits:minute:taken", "text")
      assert.strictEqual((yield* Effect.flip(hit({ key: "taken", limit: 5 }))).reason, "failed")
    }).pipe(Effect.provide(Limits.layerRedis().pipe(Layer.provideMerge(redis)))))

  test("fails while Redis does not respond, and continues when it does", () =>
    Effect.gen(function*() {
      const server = yield* TestRedis.start
      const client = yield* connect(server)
      const redis = yield* Layer.build(layerClient(client))
      const limitsOf = (deadline: "50 millis" | "5 minutes") =>
        Effect.provideContext(Layer.build(Limits.layerRedis({ deadline })), redis)
      const patient = yield* limitsOf("5 minutes")
      const impatient = yield* limitsOf("50 millis")
      const hit = RateLimit.RateLimit.use(({ hit }) => hit({ key: "frozen", limit: 5 }))
      assert.isTrue((yield* Effect.provideContext(hit, patient)).accepted)
      yield* server.freeze
      const { reason } = yield* Effect.flip(Effect.provideContext(hit, impatient))
      assert.strictEqual(reason, "unavailable")
      yield* server.resume
      assert.isTrue((yield* Effect.provideContext(hit, patient)).accepted)
    }))

  test("stores held places again that Redis has lost, and runs scripts that it has lost", () =>
    Effect.gen(function*() {
      const { acquire, held } = yield* Places.Places
      const { send } = yield* Redis.Redis
      assert.isTrue(yield* acquire({ key: "lost", max: 1 }))
      yield* send("FLUSHALL")
      yield* send("SCRIPT", "FLUSH")
      assert.strictEqual(yield* held("lost"), 0)
      yield* TestTime.advance("10 seconds")
      assert.strictEqual(yield* held("lost"), 1)
    }).pipe(Effect.provide(Limits.layerRedis().pipe(Layer.provideMerge(redis)))))

  it.live("the example of the README prints what it shows", () =>
    Effect.gen(function*() {
      const { socket } = yield* TestRedis.start
      const printed = yield* Example.run(new URL("../example/redis.ts", import.meta.url), {
        REDIS_URL: `unix://${socket}`
      })
      assert.strictEqual(printed, "true 1\ntrue 0\nfalse 0")
    }))

  for (const name of ["redis", "ioredis"] as const) {
    it.live(`works without Effect on a client of ${name}`, () =>
      Effect.gen(function*() {
        const server = yield* TestRedis.start
        const client = name === "redis" ? yield* connect(server) : yield* Effect.acquireRelease(
          Effect.sync(() => new IoRedis({ path: server.socket })),
          (client) => Effect.sync(() => client.disconnect())
        )
        yield* Effect.promise(async () => {
          await using limits = await createLimits({ redis: client, prefix: "shop:" })
          const hit = { key: "ada", limit: 2, window: "10 seconds", algorithm: "slidingWindow" } as const
          const verdicts = await Promise.all([1, 2, 3].map(() => limits.hit(hit)))
          assert.strictEqual(verdicts.filter((verdict) => verdict.accepted).length, 2)
          await using place = await limits.acquire({ key: "ada", max: 1 })
          assert.isDefined(place)
          assert.isUndefined(await limits.acquire({ key: "ada", max: 1 }))
          const { _tag } = await limits.reserve({ key: "ada", limit: 10, amount: 8 })
          assert.strictEqual(_tag, "Granted")
          assert.strictEqual(await limits.used({ key: "ada" }), 8)
        })
      }))
  }
}

if (TestRedis.isInstalled) describe("Redis", suite)
else it("limits in Redis", (context) => context.skip("NOT TESTED: redis-server is not installed"))
