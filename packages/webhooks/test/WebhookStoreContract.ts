import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Data, type DateTime, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Claimed } from "../src/Delivery.ts"
import { type EndpointRecord, WebhookStore } from "../src/WebhookStore.ts"
import { at, makeWorld, settlementOf } from "./Fixture.ts"

class Undone extends Data.TaggedError("Undone")<{}> {}

/** The behaviour of every `WebhookStore` for endpoints, events and lists. */
export const suite = <E>(name: string, backend: Layer.Layer<WebhookStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`WebhookStore (${name})`, (it) => {
    it.effect("returns endpoints as they were saved, to their account only", () =>
      Effect.gen(function*() {
        const store = yield* WebhookStore
        const world = yield* makeWorld
        const other = yield* makeWorld
        const first = yield* world.endpoint()
        const second = yield* world.endpoint({ types: ["order.paid", "order.sent"], createdAt: at(1) })
        assert.deepStrictEqual(yield* store.findEndpoints([world.account]), [first.endpoint, second.endpoint])
        assert.deepStrictEqual(yield* store.findEndpoints([other.account]), [])
        assert.deepStrictEqual(yield* store.findEndpoints([other.account, world.account]), [
          first.endpoint,
          second.endpoint
        ])
        assert.deepStrictEqual(yield* store.loadEndpoint(world.account, second.endpoint.id), second)
        assert.isUndefined(yield* store.loadEndpoint(other.account, second.endpoint.id))
        const changed: EndpointRecord = {
          endpoint: {
            ...second.endpoint,
            url: "https://example.com:8443/hooks",
            types: null,
            status: "disabled",
            secretCreatedAt: at(5)
          },
          secrets: [
            { sealed: "key.nonce.newest", createdAt: at(5), expiresAt: null },
            { sealed: "key.nonce.older", createdAt: at(2), expiresAt: at(60) },
            { sealed: "key.nonce.oldest", createdAt: at(1), expiresAt: at(30) }
          ]
        }
        yield* store.saveEndpoint(changed)
        assert.deepStrictEqual(yield* store.loadEndpoint(world.account, second.endpoint.id), changed)
        const fewer = { ...changed, secrets: changed.secrets.slice(0, 1) }
        yield* store.saveEndpoint(fewer)
        assert.deepStrictEqual(yield* store.loadEndpoint(world.account, second.endpoint.id), fewer)
        assert.strictEqual(yield* store.countEndpoints(world.account), 2)
        assert.deepStrictEqual(yield* store.loadEndpoint(world.account, first.endpoint.id), first)
      }))

    it.effect("locks the account while its endpoints are counted, so that a limit is exact", () =>
      Effect.gen(function*() {
        const store = yield* WebhookStore
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const world = yield* makeWorld
        const insert = Effect.gen(function*() {
          if ((yield* store.countEndpoints(world.account)) >= 5) return false
          yield* world.endpoint()
          return true
        }).pipe(atomically)
        const inserted = yield* Effect.all(Array.from({ length: 20 }, () => insert), { concurrency: "unbounded" })
        assert.strictEqual(inserted.filter(Boolean).length, 5)
        assert.strictEqual((yield* store.findEndpoints([world.account])).length, 5)
      }))

    it.effect("finds secrets that another key sealed and expired ones", () =>
      Effect.gen(function*() {
        const store = yield* WebhookStore
        const world = yield* makeWorld
        const old = yield* world.endpoint({}, "k1.nonce.text")
        const fresh = yield* world.endpoint({}, "k2.nonce.text")
        const over = yield* world.endpoint({}, "k2.nonce.text")
        const longer = yield* world.endpoint({}, "k20.nonce.text")
        yield* store.saveEndpoint({
          ...over,
          secrets: [...over.secrets, { sealed: "k2.nonce.older", createdAt: at(0), expiresAt: at(60) }]
        })
        const own = Effect.fnUntraced(function*(now: DateTime.Utc) {
          const found = yield* store.findStaleSecrets("k2.", now, 1_000)
          return found.filter(({ account }) => account === world.account).map(({ id }) => id)
        })
        assert.sameMembers(yield* own(at(59)), [old.endpoint.id, longer.endpoint.id])
        assert.sameMembers(yield* own(at(60)), [old.endpoint.id, longer.endpoint.id, over.endpoint.id])
        assert.notInclude(yield* own(at(60)), fresh.endpoint.id)
        assert.strictEqual((yield* store.findStaleSecrets("k2.", at(60), 1)).length, 1)
      }))

    it.effect("stores nothing of an event whose unit of work rolls back", () =>
      Effect.gen(function*() {
        const store = yield* WebhookStore
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const world = yield* makeWorld
        const endpoint = yield* world.endpoint()
        const undone = Effect.andThen(world.publish([endpoint]), Effect.fail(new Undone())).pipe(atomically)
        assert.instanceOf(yield* Effect.flip(undone), Undone)
        assert.deepStrictEqual(yield* store.listDeliveries(endpoint.endpoint.id, 10), [])
        assert.deepStrictEqual(yield* store.claim([{ endpoint: endpoint.endpoint.id, limit: 10 }], at(9), at(39)), [])
      }))

    it.effect("claims events as they were published, for every endpoint of the event", () =>
      Effect.gen(function*() {
        const store = yield* WebhookStore
        const world = yield* makeWorld
        const a = yield* world.endpoint()
        const b = yield* world.endpoint({ types: ["order.paid"] })
        const data = { z: 1, a: ["ü", "\u0000", "\ud800", "€ 'quoted\" \\"], n: null, deep: { x: 1.5e300 } }
        const { deliveries, event } = yield* world.publish([a, b], at(3), data)
        const claimed = yield* store.claim(
          [{ endpoint: a.endpoint.id, limit: 10 }, { endpoint: b.endpoint.id, limit: 10 }],
          at(3),
          at(33)
        )
        assert.sameMembers(claimed.map(({ delivery }) => delivery), deliveries)
        const first = claimed.find(({ endpoint }) => endpoint.id === a.endpoint.id)
        assert.deepStrictEqual<ReadonlyArray<Claimed | undefined>>([first], [{
          delivery: deliveries[0]!,
          claims: 1,
          endpoint: a.endpoint,
          secrets: a.secrets,
          event,
          dueAt: at(3),
          attempt: 1,
          failedSends: 0,
          body: null
        }])
        // Including the order of fields.
        assert.strictEqual(JSON.stringify(first?.event.data), JSON.stringify(data))
      }))

    it.effect("lists an endpoint's deliveries newest first, by page, for its account only", () =>
      Effect.gen(function*() {
        const store = yield* WebhookStore
        const world = yield* makeWorld
        const other = yield* makeWorld
        const endpoint = yield* world.endpoint()
        const beside = yield* world.endpoint()
        const published = yield* Effect.forEach([0, 1, 2, 3, 4], (n) => world.publish([endpoint, beside], at(n)))
        const newestFirst = published.map(({ deliveries }) => deliveries[0]!).toReversed()
        const all = yield* store.listDeliveries(endpoint.endpoint.id, 10)
        assert.deepStrictEqual(all.map(({ id }) => id), newestFirst)
        assert.deepStrictEqual(all[0], {
          id: newestFirst[0]!,
          event: published[4]!.event.id,
          endpoint: endpoint.endpoint.id,
          type: "order.paid",
          subject: null,
          status: "pending",
          failedSends: 0,
          createdAt: at(4),
          dueAt: at(4)
        })
        const page = yield* store.listDeliveries(endpoint.endpoint.id, 2, newestFirst[1])
        assert.deepStrictEqual(page.map(({ id }) => id), newestFirst.slice(2, 4))
        assert.deepStrictEqual(yield* store.loadDelivery(world.account, newestFirst[0]!), all[0])
        assert.isUndefined(yield* store.loadDelivery(other.account, newestFirst[0]!))
      }))

    it.effect("lists the newest lines of an endpoint's log, and trims the others", () =>
      Effect.gen(function*() {
        const store = yield* WebhookStore
        const world = yield* makeWorld
        const endpoint = yield* world.endpoint()
        const beside = yield* world.endpoint()
        for (const n of [0, 1, 2, 3, 4]) {
          yield* world.publish([endpoint, beside], at(n))
          for (const { endpoint: { id } } of [endpoint, beside]) {
            const [claimed] = yield* store.claim([{ endpoint: id, limit: 1 }], at(n), at(n + 30))
            yield* store.settle([settlementOf(claimed!, { _tag: "Delivered" }, at(n))])
          }
        }
        const lines = yield* store.listSends(endpoint.endpoint.id, 10)
        assert.deepStrictEqual(lines.map((line) => line.at), [at(4), at(3), at(2), at(1), at(0)])
        const { delivery, ...line } = lines[0]!
        assert.strictEqual(delivery, (yield* store.listDeliveries(endpoint.endpoint.id, 1))[0]!.id)
        assert.deepStrictEqual(line, {
          type: "order.paid",
          attempt: 1,
          at: at(4),
          durationMillis: 12,
          reason: "ok",
          httpStatus: 204
        })
        assert.strictEqual((yield* store.listSends(endpoint.endpoint.id, 2)).length, 2)
        while ((yield* store.trimSends(3, 1_000)) > 0);
        for (const { endpoint: { id } } of [endpoint, beside]) {
          assert.deepStrictEqual((yield* store.listSends(id, 10)).map((line) => line.at), [at(4), at(3), at(2)])
        }
        assert.strictEqual(yield* store.trimSends(2, 1), 1)
      }))

    it.effect("hides a removed endpoint immediately, and sweeps its rows in small sets", () =>
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

    it.effect("expires pending deliveries and deletes ended ones by when they were published or restarted", () =>
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

    it.effect("keeps an event until its last delivery is deleted", () =>
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
  })

/** Sweeps the rows of other tests. */
const sweepAll = Effect.gen(function*() {
  const store = yield* WebhookStore
  while ((yield* store.expire(at(1_000_000), at(1_000_000), 1_000)) > 0);
  while ((yield* store.sweep(at(1_000_000), 1_000)) > 0);
})
