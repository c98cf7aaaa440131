import { assert, describe, it } from "@effect/vitest"
import { Effect, Queue } from "effect"
import { TestClock } from "effect/testing"
import { makeWorld, memory, ok } from "./SendingWorld.ts"

type World = Effect.Success<typeof makeWorld>

/** Endpoints that never respond and always have due deliveries. */
const makeDead = Effect.fnUntraced(function*(world: World, accounts: ReadonlyArray<string>, deliveries: number) {
  const now = { sends: 0, most: 0 }
  const endpoints = yield* Effect.forEach(accounts, (account) => world.endpoint({ account }))
  for (const endpoint of endpoints) {
    world.answer(endpoint, () =>
      Effect.sync(() => now.most = Math.max(now.most, ++now.sends)).pipe(
        Effect.andThen(Effect.never),
        Effect.ensuring(Effect.sync(() => now.sends--))
      ))
    yield* world.publishMany(endpoint, deliveries)
  }
  return now
})

/** Advances the clock in steps, so that fibers run at each of them, and sends begin before the next one. */
const pass = (world: World, seconds: number) =>
  Effect.forEach(
    Array.from({ length: seconds }),
    () => Effect.andThen(TestClock.adjust("1 second"), world.allSent),
    { discard: true }
  )

/** A hanging send ends after 10 seconds, half of the lease. */
const limits = { lease: "20 seconds", sendsMax: 32, accountSendsMax: 16, endpointSendsMax: 8, lookPause: 0 } as const

describe("DeliveryWorker with dead endpoints", () => {
  it.effect("sends immediately to a healthy endpoint while dead endpoints of other accounts use their whole share", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start(limits)
      const dead = yield* makeDead(world, Array.from({ length: 20 }, (_, n) => `dead-${n}`), 20)
      // By now all of them were tried, four more than the slots for suspects.
      yield* pass(world, 25)
      assert.strictEqual(dead.sends, 12)
      const healthy = yield* world.endpoint({ account: "healthy" })
      const sent: Array<number> = []
      world.answer(healthy, ({ at }) => Effect.sync(() => (sent.push(at), ok)))
      for (const second of [25, 26, 27, 28]) {
        yield* world.publishMany(healthy, 5)
        while (sent.length < 5) yield* Effect.yieldNow
        assert.deepStrictEqual(sent.splice(0), Array.from({ length: 5 }, () => second * 1000))
        yield* pass(world, 1)
      }
    }).pipe(Effect.provide(memory)))

  it.effect("sends immediately to a healthy endpoint while the other four of its account are dead", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start({ lease: "20 seconds", lookPause: 0 })
      const dead = yield* makeDead(world, Array.from({ length: 4 }, () => "one"), 100)
      yield* pass(world, 15)
      // Half of the account's 48, minus a quarter of that for unknown endpoints.
      assert.strictEqual(dead.sends, 18)
      const healthy = yield* world.endpoint({ account: "one" })
      const sent: Array<number> = []
      world.answer(healthy, ({ at }) => Effect.sync(() => (sent.push(at), ok)))
      yield* world.publishMany(healthy, 50)
      while (sent.length < 50) yield* Effect.yieldNow
      assert.deepStrictEqual(sent, Array.from({ length: 50 }, () => 15_000))
    }).pipe(Effect.provide(memory)))

  it.effect("tries unknown endpoints with one send each after a restart", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const dead = yield* makeDead(world, Array.from({ length: 15 }, (_, n) => `dead-${n}`), 20)
      const healthy = yield* world.endpoint({ account: "healthy" })
      yield* world.publishMany(healthy, 20)
      const sent: Array<number> = []
      world.answer(healthy, ({ at }) => Effect.sync(() => (sent.push(at), ok)))
      yield* world.start(limits)
      while (sent.length < 20) yield* Effect.yieldNow
      assert.deepStrictEqual(sent, Array.from({ length: 20 }, () => 0))
      assert.strictEqual(dead.sends, 15)
    }).pipe(Effect.provide(memory)))

  it.effect("sends immediately to a healthy endpoint while endpoints that answered before hang", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* world.start(limits)
      // The reserve of 8, minus an eighth of the suspects' 16, minus one.
      const accounts = Array.from({ length: 5 }, (_, n) => `hanging-${n}`)
      const endpoints = yield* Effect.forEach([...accounts, "quiet"], (account) => world.endpoint({ account }))
      for (const endpoint of endpoints) yield* world.publishMany(endpoint, 10)
      yield* Effect.forEach(Array.from({ length: 60 }), () => world.settled)
      const count = { hanging: 0 }
      for (const endpoint of endpoints.slice(0, 5)) {
        world.answer(endpoint, () => Effect.andThen(Effect.sync(() => count.hanging++), Effect.never))
        yield* world.publishMany(endpoint, 20)
      }
      while (count.hanging < 24) yield* Effect.yieldNow
      const sent: Array<number> = []
      world.answer(endpoints[5]!, ({ at }) => Effect.sync(() => (sent.push(at), ok)))
      yield* world.publishMany(endpoints[5]!, 10)
      while (sent.length < 10) yield* Effect.yieldNow
      assert.deepStrictEqual(sent, Array.from({ length: 10 }, () => 0))
    }).pipe(Effect.provide(memory)))

  it.effect("restores the whole share of a dead endpoint as soon as it responds", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      // An eighth of all slots, and of the account's 16.
      yield* world.start({ ...limits, suspectSendsMax: 4 })
      const endpoint = yield* world.endpoint()
      const count = { sends: 0 }
      const hang = Effect.andThen(Effect.sync(() => count.sends++), Effect.never)
      world.answer(endpoint, () => Effect.succeed({ reason: "connect", httpStatus: null }))
      yield* world.publish(endpoint)
      yield* world.settled
      world.answer(endpoint, () => hang)
      yield* world.publishMany(endpoint, 20)
      while (count.sends < 2) yield* Effect.yieldNow
      yield* pass(world, 1)
      assert.strictEqual(count.sends, 2)
      world.answer(endpoint, () => Effect.succeed(ok))
      // The two hanging sends end with their claims, and the next ones are answered.
      yield* pass(world, 20)
      while ((yield* Queue.size(world.calls)) < 20) yield* Effect.yieldNow
      assert.strictEqual(count.sends, 2)
    }).pipe(Effect.provide(memory)))

  it.effect("limits an account to its cap, and shares scarce slots between accounts", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const now = new Map<string, number>()
      const most = new Map<string, number>()
      const accounts = ["crowd", "crowd", "crowd", "crowd", "single", "other"]
      const endpoints = yield* Effect.forEach(accounts, (account) => world.endpoint({ account }))
      for (const endpoint of endpoints) {
        const { account } = endpoint.endpoint
        world.answer(endpoint, () =>
          Effect.gen(function*() {
            now.set(account, (now.get(account) ?? 0) + 1)
            most.set(account, Math.max(most.get(account) ?? 0, now.get(account)!))
            for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
            now.set(account, now.get(account)! - 1)
            return ok
          }))
        yield* world.publishMany(endpoint, 100)
      }
      yield* world.start({ ...limits, sendsMax: 24, accountSendsMax: 10 })
      yield* Effect.forEach(Array.from({ length: 600 }), () => world.settled)
      for (const [, sends] of most) assert.isAtMost(sends, 10)
      // A third of the slots that are not reserved.
      assert.isAtLeast(most.get(endpoints[4]!.endpoint.account) ?? 0, 6)
    }).pipe(Effect.provide(memory)))
})
