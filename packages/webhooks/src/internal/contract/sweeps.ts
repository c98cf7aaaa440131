/** Tests of expiry and deletion. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type EndpointRecord, WebhookStore } from "../../WebhookStore.ts"
import type { Register } from "./tests.ts"
import { at, makeWorld, settlementOf } from "./world.ts"

/** Registers the test of removed endpoints. */
export const removalTests = (test: Register): void => {
  test("hides a removed endpoint immediately, and sweeps its rows in small sets", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const world = yield* makeWorld
      yield* sweepAll
      const endpoint = yield* world.endpoint()
      const { id } = endpoint.endpoint
      const published = yield* Effect.forEach([0, 1, 2, 3, 4], (n) => world.publish([endpoint], at(n)))
      const [claimed] = yield* store.claim([{ endpoint: id, limit: 1 }], at(5), at(35))
      yield* store.settle([settlementOf(claimed!, { _tag: "Again", dueAt: at(15) })])
      yield* store.removeEndpoint(id)
      assert.deepStrictEqual(yield* store.findEndpoints([world.account]), [])
      assert.isUndefined(yield* store.loadEndpoint(world.account, id))
      assert.strictEqual(yield* store.countEndpoints(world.account), 0)
      assert.isUndefined(yield* store.loadDelivery(world.account, published[0]!.deliveries[0]!))
      assert.deepStrictEqual(yield* store.listDeliveries(id, 10), [])
      assert.deepStrictEqual(yield* store.listSends(id, 10), [])
      assert.deepStrictEqual(yield* store.claim([{ endpoint: id, limit: 10 }], at(99), at(129)), [])
      const { endpoints } = yield* store.due(at(99), 1_000)
      assert.notInclude(endpoints.map(({ endpoint }) => endpoint), id)
      const stale = yield* store.findStaleSecrets("none", at(99), 1_000)
      assert.notInclude(stale.map(({ id }) => id), id)
      // Five deliveries and one line.
      assert.strictEqual(yield* store.sweep(at(0), 2), 2)
      assert.strictEqual(yield* store.sweep(at(0), 2), 2)
      assert.strictEqual(yield* store.sweep(at(0), 2), 2)
      assert.strictEqual(yield* store.sweep(at(0), 2), 0)
    }))
}

/** Registers tests of expired and ended deliveries. */
export const sweepTests = (test: Register): void => {
  test("expires pending deliveries and deletes ended ones by when they were published or restarted", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const world = yield* makeWorld
      yield* sweepAll
      const endpoint = yield* world.endpoint()
      const [old, resent, young] = yield* Effect.forEach([0, 1, 2], (n) => world.publish([endpoint], at(n)))
      const statuses = Effect.map(
        store.listDeliveries(endpoint.endpoint.id, 10),
        (deliveries) => deliveries.map(({ dueAt, id, status }) => ({ id, status, isDue: dueAt !== null }))
      )
      assert.strictEqual(yield* store.expire(at(2), at(1_000_000), 1), 1)
      assert.strictEqual(yield* store.expire(at(2), at(1_000_000), 10), 1)
      assert.strictEqual(yield* store.expire(at(2), at(1_000_000), 10), 0)
      yield* store.restart(resent!.deliveries[0]!, at(50))
      assert.deepStrictEqual(yield* statuses, [
        { id: young!.deliveries[0]!, status: "pending", isDue: true },
        { id: resent!.deliveries[0]!, status: "pending", isDue: true },
        { id: old!.deliveries[0]!, status: "failed", isDue: false }
      ])
      assert.strictEqual(yield* store.sweep(at(40), 10), 1)
      assert.strictEqual(yield* store.expire(at(40), at(1_000_000), 10), 1)
      assert.strictEqual(yield* store.sweep(at(40), 10), 1)
      assert.deepStrictEqual(yield* statuses, [{ id: resent!.deliveries[0]!, status: "pending", isDue: true }])
    }))

  test("keeps an event until its last delivery is deleted", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const world = yield* makeWorld
      yield* sweepAll
      const a = yield* world.endpoint()
      const b = yield* world.endpoint()
      const { event } = yield* world.publish([a, b])
      const settle = (endpoint: EndpointRecord) =>
        Effect.gen(function*() {
          const [claimed] = yield* store.claim([{ endpoint: endpoint.endpoint.id, limit: 1 }], at(1), at(31))
          assert.deepStrictEqual(claimed?.event, event)
          yield* store.settle([settlementOf(claimed!, { _tag: "Delivered" })])
        })
      yield* settle(a)
      assert.strictEqual(yield* store.sweep(at(9), 10), 1)
      yield* settle(b)
      assert.strictEqual(yield* store.sweep(at(9), 10), 1)
    }))
}

/** Registers the test of deliveries under a lease. */
export const leaseTests = (test: Register): void => {
  test("does not expire a delivery under a lease", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const world = yield* makeWorld
      const endpoint = yield* world.endpoint()
      const { deliveries: [delivery] } = yield* world.publish([endpoint])
      const status = Effect.map(store.loadDelivery(world.account, delivery!), (found) => found?.status)
      const [claimed] = yield* store.claim([{ endpoint: endpoint.endpoint.id, limit: 1 }], at(60), at(90))
      yield* store.expire(at(50), at(89), 1_000)
      assert.strictEqual(yield* status, "pending")
      yield* store.settle([settlementOf(claimed!, { _tag: "Again", dueAt: at(100) })])
      yield* store.expire(at(50), at(89), 1_000)
      assert.strictEqual(yield* status, "failed")
      yield* store.restart(delivery!, at(100))
      yield* store.claim([{ endpoint: endpoint.endpoint.id, limit: 1 }], at(100), at(130))
      yield* store.expire(at(101), at(130), 1_000)
      assert.strictEqual(yield* status, "failed")
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Sweeps the rows of other tests. */
const sweepAll = Effect.gen(function*() {
  const store = yield* WebhookStore
  while ((yield* store.expire(at(1_000_000), at(1_000_000), 1_000)) > 0);
  while ((yield* store.sweep(at(1_000_000), 1_000)) > 0);
})
