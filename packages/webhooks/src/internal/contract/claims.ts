/** Tests of claims. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Claimed } from "../../Delivery.ts"
import type { EndpointId } from "../../Endpoint.ts"
import { type Settlement, WebhookStore } from "../../WebhookStore.ts"
import type { Register } from "./tests.ts"
import { at, makeWorld, settlementOf } from "./world.ts"

/** Registers tests of claims of several workers. */
export const claimTests = (test: Register): void => {
  test("claims the deliveries that have been due longest, up to the limit, under a lease", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const world = yield* makeWorld
      const endpoint = yield* world.endpoint()
      const ids = yield* Effect.forEach(
        [5, 1, 3, 9],
        (n) => Effect.map(world.publish([endpoint], at(n)), ({ deliveries }) => deliveries[0]!)
      )
      const claim = (limit: number, now: number) =>
        Effect.map(
          store.claim([{ endpoint: endpoint.endpoint.id, limit }], at(now), at(now + 30)),
          (claimed) => claimed.map(({ delivery }) => delivery)
        )
      assert.sameMembers(yield* claim(2, 8), [ids[1]!, ids[2]!])
      assert.sameMembers(yield* claim(9, 8), [ids[0]!])
      assert.deepStrictEqual(yield* claim(9, 8), [])
      assert.sameMembers(yield* claim(9, 37), [ids[3]!])
      assert.sameMembers(yield* claim(9, 38), [ids[0]!, ids[1]!, ids[2]!])
    }))

  test("never claims a delivery for two workers", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const world = yield* makeWorld
      const endpoints = yield* Effect.forEach([1, 2, 3], () => world.endpoint())
      const published = yield* Effect.forEach(Array.from({ length: 40 }), () => world.publish(endpoints))
      const demands = endpoints.map(({ endpoint }) => ({ endpoint: endpoint.id, limit: 3 }))
      const claims = yield* Effect.all(
        Array.from(
          { length: 20 },
          (_, n) => store.claim(n % 2 === 0 ? demands : demands.toReversed(), at(1), at(31))
        ),
        { concurrency: "unbounded" }
      )
      const claimed = claims.flat().map(({ delivery }) => delivery)
      assert.strictEqual(new Set(claimed).size, claimed.length)
      const rest = yield* store.claim(demands.map((demand) => ({ ...demand, limit: 100 })), at(1), at(31))
      assert.sameMembers(
        [...claimed, ...rest.map(({ delivery }) => delivery)],
        published.flatMap(({ deliveries }) => deliveries)
      )
    }))
}

/** Registers tests of the bytes of claims, and of bodies that are stored before the first send. */
export const byteTests = (test: Register): void => {
  test("claims at most the given bytes but at least one delivery, the first of each endpoint before the second of any", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const world = yield* makeWorld
      const a = yield* world.endpoint()
      const b = yield* world.endpoint()
      const data = { text: "€".repeat(100) }
      const bytes = `{"text":""}`.length + 300
      const publish = (endpoint: typeof a, n: number) =>
        Effect.map(world.publish([endpoint], at(n), data), ({ deliveries }) => deliveries[0]!)
      const [a1, a2, a3, b1, b2] = [
        yield* publish(a, 1),
        yield* publish(a, 2),
        yield* publish(a, 3),
        yield* publish(b, 4),
        yield* publish(b, 5)
      ]
      const demands = [a, b].map(({ endpoint }) => ({ endpoint: endpoint.id, limit: 9 }))
      const claim = (bytesMax: number | undefined, now: number) =>
        Effect.map(
          store.claim(demands, at(now), at(now + 30), bytesMax),
          (claimed) => claimed.map(({ delivery }) => delivery)
        )
      assert.sameMembers(yield* claim(3 * bytes - 1, 9), [a1, b1])
      assert.sameMembers(yield* claim(0, 9), [a2])
      assert.sameMembers(yield* claim(undefined, 9), [a3, b2])
      // From here on the deliveries have bodies.
      yield* store.freeze([a1, a2, a3, b1, b2].map((delivery) => ({ delivery, body: new Uint8Array(1_000) })))
      assert.sameMembers(yield* claim(4 * (bytes + 1_000), 39), [a1, a2, b1, b2])
      assert.sameMembers(yield* claim(bytes + 1_000, 39), [a3])
    }))

  test("returns the body of the first send until the delivery ends", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const world = yield* makeWorld
      const endpoint = yield* world.endpoint()
      const body = Uint8Array.from({ length: 5_000 }, (_, index) => index % 256)
      const { deliveries: [first] } = yield* world.publish([endpoint])
      const { deliveries: [second] } = yield* world.publish([endpoint])
      const claim = (now: number) => store.claim([{ endpoint: endpoint.endpoint.id, limit: 2 }], at(now), at(now + 30))
      yield* claim(0)
      yield* store.freeze([{ delivery: first!, body }, { delivery: second!, body: new Uint8Array([0]) }])
      const again = yield* claim(30)
      assert.deepStrictEqual(again.find(({ delivery }) => delivery === first)?.body, body)
      assert.deepStrictEqual(again.find(({ delivery }) => delivery === second)?.body, new Uint8Array([0]))
      yield* store.settle(again.map((claimed) => settlementOf(claimed, { _tag: "Delivered" })))
      yield* store.restart(first!, at(90))
      assert.isNull((yield* claim(90))[0]?.body)
    }))
}

/** Registers the test of bodies that are stored with the outcome of a send. */
export const sentBodyTests = (test: Register): void => {
  test("stores the body of a failed send with its outcome, unless the delivery has one or the claim no longer holds", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const world = yield* makeWorld
      const endpoint = yield* world.endpoint()
      const { deliveries: [id] } = yield* world.publish([endpoint])
      const claim = (now: number) =>
        Effect.map(
          store.claim([{ endpoint: endpoint.endpoint.id, limit: 1 }], at(now), at(now + 30)),
          ([claimed]) => claimed!
        )
      const again = (one: Claimed, seconds: number, ...bytes: ReadonlyArray<number>): Settlement => ({
        ...settlementOf(one, { _tag: "Again", dueAt: at(seconds) }),
        body: Uint8Array.from(bytes)
      })
      const lost = yield* claim(0)
      const first = yield* claim(30)
      yield* store.settle([again(lost, 30, 9)])
      assert.deepStrictEqual(yield* store.settle([again(first, 60, 0, 255, 92)]), [id!])
      const second = yield* claim(60)
      assert.deepStrictEqual(second.body, Uint8Array.from([0, 255, 92]))
      yield* store.settle([again(second, 90, 1)])
      const third = yield* claim(90)
      assert.deepStrictEqual(third.body, Uint8Array.from([0, 255, 92]))
      yield* store.settle([{ ...settlementOf(third, { _tag: "Failed" }), body: Uint8Array.from([2]) }])
      yield* store.restart(id!, at(120))
      assert.isNull((yield* claim(120)).body)
    }))
}

/** Registers the test of due endpoints. */
export const dueTests = (test: Register): void => {
  test("lists due endpoints in the order of ids, and when to poll again", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const world = yield* makeWorld
      // Ids are ordered by time, so endpoints of other tests sort before the first one.
      const [first, a, b, c, d, e] = yield* Effect.forEach([0, 1, 2, 3, 4, 5], () => world.endpoint())
      yield* world.publish([a!], at(0))
      yield* world.publish([a!], at(1))
      yield* world.publish([b!], at(70))
      yield* world.publish([d!], at(10))
      yield* world.publish([e!], at(60))
      const due = (now: number, limit: number, after: EndpointId = first!.endpoint.id) =>
        Effect.map(store.due(at(now), limit, after), ({ endpoints, nextAt }) => ({
          endpoints: endpoints.filter(({ account }) => account === world.account).map(({ endpoint }) => endpoint),
          nextAt
        }))
      const ids = (...records: ReadonlyArray<typeof a>) => records.map((record) => record!.endpoint.id)
      assert.deepStrictEqual((yield* due(10, 9)).endpoints, ids(a, d))
      assert.deepStrictEqual((yield* due(10, 1)).endpoints, ids(a))
      assert.deepStrictEqual(yield* due(10, 9, a!.endpoint.id), { endpoints: ids(d), nextAt: at(60) })
      assert.deepStrictEqual(yield* due(9, 9, a!.endpoint.id), { endpoints: [], nextAt: at(10) })
      assert.deepStrictEqual(yield* due(9, 9, e!.endpoint.id), { endpoints: [], nextAt: null })
      assert.deepStrictEqual((yield* due(80, 9)).endpoints, ids(a, b, d, e))
      assert.notInclude((yield* due(80, 9)).endpoints, c!.endpoint.id)
    }))
}
