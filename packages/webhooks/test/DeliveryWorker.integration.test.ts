import { assert, layer } from "@effect/vitest"
import { TestDatabase, TestTime } from "@kinora/testkit"
import { Effect, Layer, Queue } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Wakeup from "../src/Wakeup.ts"
import { over } from "./Fixture.ts"
import { type Call, makeWorld, ok, status500 } from "./SendingWorld.ts"

for (const [name, database] of TestDatabase.all) {
  const backend = Layer.mergeAll(over(database), Wakeup.layer, SecureRandom.layerWebCrypto)

  layer(backend)(`DeliveryWorker (${name})`, (it) => {
    it.effect("sends every delivery once with two workers that claim from the same endpoints", () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const endpoints = yield* Effect.forEach([1, 2, 3, 4], (n) => world.endpoint({ account: `${n % 2}` }))
        yield* world.start()
        yield* world.start()
        const ids = (yield* Effect.forEach(endpoints, (endpoint) => world.publishMany(endpoint, 50))).flat()
        const settled = yield* Effect.forEach(ids, () => world.settled)
        assert.sameMembers(settled.map(({ delivery }) => delivery), ids)
        assert.isTrue(settled.every(({ send }) => send?.attempt === 1))
        assert.strictEqual(yield* Queue.size(world.calls), ids.length)
        for (const endpoint of endpoints) assert.strictEqual((yield* world.log(endpoint)).length, 50)
      }))

    it.effect("sends 4 times, at 0, 10, 60 and 300 seconds after the previous send failed, with the same body", () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        let made = 0
        // Only known due times may trigger a poll.
        yield* world.start({
          pollInterval: "1 hour",
          complete: ({ data }) => Effect.sync(() => ({ data, "ümläut\u2028": ++made }))
        })
        const endpoint = yield* world.endpoint()
        world.answer(endpoint, () => Effect.succeed(status500))
        const id = yield* world.publish(endpoint)
        const calls: Array<Call> = []
        for (const pause of [0, 10, 60, 300]) {
          yield* TestTime.advance(`${pause} seconds`)
          calls.push(yield* world.call)
          yield* world.settled
        }
        assert.deepStrictEqual(calls.map(({ at }) => at), [0, 10_000, 70_000, 370_000])
        assert.deepStrictEqual(calls.map(({ text }) => text), Array.from({ length: 4 }, () => calls[0]!.text))
        assert.strictEqual(made, 1)
        assert.deepInclude(yield* world.find(endpoint, id), { status: "failed", failedSends: 4 })
      }))

    it.effect("claims for many endpoints in one statement", () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const endpoints = yield* Effect.forEach(
          Array.from({ length: 60 }, (_, n) => n),
          (n) => world.endpoint({ account: `${n}` })
        )
        const ids = yield* Effect.forEach(endpoints, (endpoint) => world.publishQuietly(endpoint))
        yield* world.start()
        const settled = yield* Effect.forEach(ids, () => world.settled)
        assert.sameMembers(settled.map(({ delivery }) => delivery), ids)
        assert.isBelow(world.count.claim, 10)
      }))

    it.effect("retries to store an outcome while the database is unavailable, without another send", () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        yield* world.start()
        const endpoint = yield* world.endpoint()
        world.answer(endpoint, () => Effect.succeed(ok))
        world.faults.settle = 8
        const id = yield* world.publish(endpoint)
        yield* world.call
        const settled = yield* Effect.forkChild(world.settled)
        yield* TestTime.until(Effect.sync(() => settled.pollUnsafe() !== undefined))
        assert.deepInclude(yield* world.find(endpoint, id), { status: "delivered", failedSends: 0 })
        assert.strictEqual(yield* Queue.size(world.calls), 0)
      }))
  })
}
