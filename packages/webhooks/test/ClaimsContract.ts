import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Claimed } from "../src/Delivery.ts"
import type { EndpointId } from "../src/Endpoint.ts"
import { type Settlement, WebhookStore } from "../src/WebhookStore.ts"
import { at, makeWorld, settlementOf } from "./Fixture.ts"

/** The behaviour of every `WebhookStore` for workers. */
export const suite = <E>(name: string, backend: Layer.Layer<WebhookStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`WebhookStore, claims (${name})`, (it) => {
    it.effect("claims the deliveries that have been due longest, up to the limit, under a lease", () =>
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

    it.effect("never claims a delivery for two workers", () =>
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

    it.effect("claims at most the given bytes but at least one delivery, the first of each endpoint before the second of any", () =>
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

    it.effect("does not count deliveries to a disabled endpoint as failed sends, and logs the first of many", () =>
      Effect.gen(function*() {
        const store = yield* WebhookStore
        const world = yield* makeWorld
        const endpoint = yield* world.endpoint()
        const beside = yield* world.endpoint()
        const { id } = endpoint.endpoint
        yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7], () => world.publish([endpoint, beside]))
        const claimed = yield* store.claim([{ endpoint: id, limit: 7 }], at(1), at(31))
        const disabled = claimed.map((one, n) => disabledAt(one, n + 2))
        const reasons = Effect.map(store.listSends(id, 10), (lines) => lines.map(({ reason }) => reason))
        yield* store.settle([settlementOf(claimed[0]!, { _tag: "Delivered" }, at(2))])
        yield* store.settle(disabled.slice(1, 4))
        yield* store.settle(disabled.slice(1, 5))
        assert.deepStrictEqual(yield* reasons, ["disabled", "ok"])
        yield* store.settle([settlementOf(claimed[5]!, { _tag: "Delivered" }, at(7))])
        const [other] = yield* store.claim([{ endpoint: beside.endpoint.id, limit: 1 }], at(1), at(31))
        yield* store.settle([disabled[6]!, disabledAt(other!, 8)])
        assert.deepStrictEqual(yield* reasons, ["disabled", "ok", "disabled", "ok"])
        assert.strictEqual((yield* store.listSends(beside.endpoint.id, 10)).length, 1)
        const ended = yield* store.listDeliveries(id, 10)
        assert.strictEqual(ended.filter(({ status }) => status === "failed").length, 5)
        assert.isTrue(ended.every(({ failedSends }) => failedSends === 0))
      }))

    it.effect("does not expire a delivery under a lease", () =>
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

    it.effect("returns active secrets, newest first", () =>
      Effect.gen(function*() {
        const store = yield* WebhookStore
        const world = yield* makeWorld
        const { endpoint } = yield* world.endpoint()
        const secrets = [
          { sealed: "key.nonce.a", createdAt: at(9), expiresAt: null },
          { sealed: "key.nonce.c", createdAt: at(5), expiresAt: at(60) },
          { sealed: "key.nonce.b", createdAt: at(1), expiresAt: at(30) }
        ]
        yield* store.saveEndpoint({ endpoint, secrets })
        yield* world.publish([{ endpoint, secrets }])
        const claim = (now: number) =>
          Effect.map(
            store.claim([{ endpoint: endpoint.id, limit: 1 }], at(now), at(now + 1)),
            ([claimed]) => claimed?.secrets
          )
        assert.deepStrictEqual(yield* claim(29), secrets)
        assert.deepStrictEqual(yield* claim(30), secrets.slice(0, 2))
        assert.deepStrictEqual(yield* claim(60), secrets.slice(0, 1))
      }))

    it.effect("returns the body of the first send until the delivery ends", () =>
      Effect.gen(function*() {
        const store = yield* WebhookStore
        const world = yield* makeWorld
        const endpoint = yield* world.endpoint()
        const body = Uint8Array.from({ length: 5_000 }, (_, index) => index % 256)
        const { deliveries: [first] } = yield* world.publish([endpoint])
        const { deliveries: [second] } = yield* world.publish([endpoint])
        const claim = (now: number) =>
          store.claim([{ endpoint: endpoint.endpoint.id, limit: 2 }], at(now), at(now + 30))
        yield* claim(0)
        yield* store.freeze([{ delivery: first!, body }, { delivery: second!, body: new Uint8Array([0]) }])
        const again = yield* claim(30)
        assert.deepStrictEqual(again.find(({ delivery }) => delivery === first)?.body, body)
        assert.deepStrictEqual(again.find(({ delivery }) => delivery === second)?.body, new Uint8Array([0]))
        yield* store.settle(again.map((claimed) => settlementOf(claimed, { _tag: "Delivered" })))
        yield* store.restart(first!, at(90))
        assert.isNull((yield* claim(90))[0]?.body)
      }))

    it.effect("settles only claims that still hold", () =>
      Effect.gen(function*() {
        const store = yield* WebhookStore
        const world = yield* makeWorld
        const endpoint = yield* world.endpoint()
        const { id } = endpoint.endpoint
        const { deliveries: [delivery] } = yield* world.publish([endpoint])
        const claim = (now: number) =>
          Effect.map(store.claim([{ endpoint: id, limit: 1 }], at(now), at(now + 30)), ([claimed]) => claimed!)
        const slow = yield* claim(0)
        const quick = yield* claim(30)
        assert.deepStrictEqual([quick.claims, quick.attempt, quick.failedSends], [2, 2, 0])
        // The lease of the first claim has ended. Its send is logged anyway.
        assert.deepStrictEqual(yield* store.settle([settlementOf(slow, { _tag: "Delivered" }, at(1))]), [])
        assert.strictEqual((yield* store.listSends(id, 10)).length, 1)
        const failed = settlementOf(quick, { _tag: "Again", dueAt: at(50) }, at(31))
        assert.deepStrictEqual(yield* store.settle([failed]), [delivery!])
        // Repeated, as by a worker that did not receive the response.
        assert.deepStrictEqual(yield* store.settle([failed]), [])
        assert.deepStrictEqual(
          yield* store.settle([settlementOf(quick, { _tag: "Delivered" }, at(31))]),
          []
        )
        assert.strictEqual((yield* store.listSends(id, 10)).length, 2)
        const found = (yield* store.loadDelivery(world.account, delivery!))!
        assert.deepStrictEqual([found.status, found.failedSends, found.dueAt], ["pending", 1, at(50)])
        const last = yield* claim(50)
        assert.deepStrictEqual([last.claims, last.attempt, last.failedSends], [3, 3, 1])
        assert.deepStrictEqual(yield* store.settle([settlementOf(last, { _tag: "Failed" })]), [delivery!])
        const ended = (yield* store.loadDelivery(world.account, delivery!))!
        assert.deepStrictEqual([ended.status, ended.failedSends, ended.dueAt], ["failed", 2, null])
      }))

    it.effect("ends a delivery without a log line and without a failed send if no request was made", () =>
      Effect.gen(function*() {
        const store = yield* WebhookStore
        const world = yield* makeWorld
        const endpoint = yield* world.endpoint()
        const { deliveries } = yield* world.publish([endpoint])
        const [claimed] = yield* store.claim([{ endpoint: endpoint.endpoint.id, limit: 1 }], at(0), at(30))
        yield* store.settle([{
          delivery: claimed!.delivery,
          claims: claimed!.claims,
          next: { _tag: "Failed" },
          send: null
        }])
        const found = (yield* store.loadDelivery(world.account, deliveries[0]!))!
        assert.deepStrictEqual([found.status, found.failedSends], ["failed", 0])
        assert.deepStrictEqual(yield* store.listSends(endpoint.endpoint.id, 10), [])
      }))

    it.effect("does not count released claims as attempts, and never reuses a claim number", () =>
      Effect.gen(function*() {
        const store = yield* WebhookStore
        const world = yield* makeWorld
        const endpoint = yield* world.endpoint()
        yield* world.publish([endpoint])
        const claim = (now: number) =>
          Effect.map(
            store.claim([{ endpoint: endpoint.endpoint.id, limit: 1 }], at(now), at(now + 30)),
            ([claimed]) => claimed!
          )
        const first = yield* claim(0)
        yield* store.release([first], at(5))
        // Repeated, as by a worker that did not receive the response.
        yield* store.release([first], at(1))
        const second = yield* claim(5)
        assert.deepStrictEqual([second.claims, second.attempt, second.dueAt], [2, 1, at(5)])
        yield* store.release([first], at(6))
        assert.deepStrictEqual(yield* store.settle([settlementOf(first, { _tag: "Delivered" })]), [])
        assert.deepStrictEqual(yield* store.settle([settlementOf(second, { _tag: "Failed" })]), [second.delivery])
        yield* store.restart(second.delivery, at(60))
        const third = yield* claim(60)
        assert.deepStrictEqual([third.claims, third.attempt, third.failedSends], [3, 1, 0])
      }))

    it.effect("settles overlapping sets in any order without a deadlock", () =>
      Effect.gen(function*() {
        const store = yield* WebhookStore
        const world = yield* makeWorld
        const endpoint = yield* world.endpoint()
        yield* Effect.forEach(Array.from({ length: 50 }), () => world.publish([endpoint]))
        const claimed = yield* store.claim([{ endpoint: endpoint.endpoint.id, limit: 50 }], at(0), at(30))
        const settlements = claimed.map((one) => settlementOf(one, { _tag: "Delivered" }))
        const settled = yield* Effect.all(
          Array.from({ length: 12 }, (_, n) => store.settle(n % 2 === 0 ? settlements : settlements.toReversed())),
          { concurrency: "unbounded" }
        )
        assert.sameMembers(settled.flat(), claimed.map(({ delivery }) => delivery))
        assert.strictEqual((yield* store.listSends(endpoint.endpoint.id, 100)).length, 50)
      }))

    it.effect("lists due endpoints in the order of ids, and when to poll again", () =>
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
  })

/** The settlement of a delivery to a disabled endpoint. */
const disabledAt = ({ attempt, claims, delivery }: Claimed, seconds: number): Settlement => ({
  delivery,
  claims,
  next: { _tag: "Failed" },
  send: { outcome: { reason: "disabled", httpStatus: null }, attempt, at: at(seconds), durationMillis: 0 }
})
