import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Deferred, Duration, Effect, Fiber, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { at, makeWorld, settlementOf } from "../src/internal/contract/world.ts"
import { WebhookStore } from "../src/WebhookStore.ts"
import { over } from "./Fixture.ts"

const overPostgres = Layer.merge(over(TestDatabase.postgres), SecureRandom.layerWebCrypto)

/** Two endpoints with a failed send, and claims of further sends to both. */
const makeFailing = Effect.fnUntraced(function*(sends: number) {
  const store = yield* WebhookStore
  const world = yield* makeWorld
  const endpoints = [yield* world.endpoint(), yield* world.endpoint()]
  const claims = yield* Effect.forEach(Array.from({ length: sends + 1 }), () =>
    Effect.gen(function*() {
      yield* world.publish(endpoints)
      return yield* Effect.forEach(endpoints, ({ endpoint }) =>
        Effect.map(store.claim([{ endpoint: endpoint.id, limit: 1 }], at(1), at(31)), ([claimed]) =>
          claimed!))
    }))
  const [first, ...rest] = claims
  yield* store.settle(first!.map((one) => settlementOf(one, { _tag: "Failed" })))
  return { endpoints, claims: rest, store }
})

it.effect(
  "settlements wait for no transaction that changes an endpoint, and their successes count",
  () =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const { claims, endpoints, store } = yield* makeFailing(3)
      const [failed, delivered, last] = claims
      const [isChanged, isOver] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const change = yield* Effect.forEach(endpoints, (record) => store.saveEndpoint(record), { discard: true }).pipe(
        Effect.andThen(Deferred.succeed(isChanged, undefined)),
        Effect.andThen(Deferred.await(isOver)),
        Effect.andThen(Effect.fail("undone" as const)),
        atomically,
        Effect.forkChild
      )
      yield* Deferred.await(isChanged)
      yield* store.settle(failed!.map((one) => settlementOf(one, { _tag: "Failed" }, at(1))))
      yield* store.settle(delivered!.map((one) => settlementOf(one, { _tag: "Delivered" }, at(2))))
      yield* Deferred.succeed(isOver, undefined)
      yield* Fiber.await(change)
      yield* store.settle(last!.map((one) => settlementOf(one, { _tag: "Failed" }, at(10))))
      assert.deepStrictEqual(yield* store.lockFailing(Duration.seconds(1), 10), [])
      const failing = yield* store.lockFailing(Duration.zero, 10)
      assert.deepStrictEqual(failing.map(({ since }) => since), [at(10), at(10)])
    }).pipe(Effect.provide(overPostgres)),
  60_000
)
