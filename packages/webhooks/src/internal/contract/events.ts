/** Tests of events and of their deliveries. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Data, Effect } from "effect"
import type { Claimed, DeliveryId } from "../../Delivery.ts"
import type { EndpointId } from "../../Endpoint.ts"
import type { NewEvent } from "../../Event.ts"
import { Wakeup } from "../../Wakeup.ts"
import { Webhooks } from "../../Webhooks.ts"
import { WebhookStore } from "../../WebhookStore.ts"
import { makeAccount, refusalOf } from "./services.ts"
import type { Register } from "./tests.ts"
import { at, makeWorld, settlementOf } from "./world.ts"

class Undone extends Data.TaggedError("Undone")<{}> {}

/** Registers tests of events. */
export const eventTests = (test: Register): void => {
  test("stores nothing of an event whose unit of work rolls back", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      const endpoint = yield* world.endpoint()
      const undone = Effect.andThen(world.publish([endpoint]), Effect.fail(new Undone())).pipe(atomically)
      assert.instanceOf(yield* Effect.flip(undone), Undone)
      assert.deepStrictEqual(yield* store.listDeliveries(endpoint.endpoint.id, 10), [])
      assert.deepStrictEqual(yield* store.claim([{ endpoint: endpoint.endpoint.id, limit: 10 }], at(9), at(39)), [])
    }))

  test("claims events as they were published, for every endpoint of the event", () =>
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
}

/** Registers tests of lists of deliveries and sends. */
export const listTests = (test: Register): void => {
  test("lists an endpoint's deliveries newest first, by page, for its account only", () =>
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

  test("lists the newest lines of an endpoint's log, and trims the others", () =>
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
}

/** Registers tests of publishing. */
export const publishTests = (test: Register): void => {
  test("creates one delivery per endpoint of the account that accepts the type", () =>
    Effect.gen(function*() {
      const webhooks = yield* Webhooks
      const [account, other] = [yield* makeAccount, yield* makeAccount]
      const create = (account: string, types?: ReadonlyArray<string>) =>
        Effect.map(webhooks.create(account, { url: "https://example.com", types }), ({ endpoint: { id } }) => id)
      const all = yield* create(account)
      const paid = yield* create(account, ["order.paid"])
      const sent = yield* create(account, ["order.sent"])
      const disabled = yield* create(account)
      const foreign = yield* create(other)
      yield* webhooks.update(account, disabled, { status: "disabled" })
      yield* webhooks.publish([event(account, "order.paid", { n: 1 }), event(account, "order.lost", { n: 2 })])
      const typesOf = (account: string, id: EndpointId) =>
        Effect.map(
          webhooks.deliveries(account, id, { limit: 100 }),
          (deliveries) => deliveries.map(({ type }) => type)
        )
      assert.deepStrictEqual(yield* typesOf(account, all), ["order.lost", "order.paid"])
      assert.deepStrictEqual(yield* typesOf(account, paid), ["order.paid"])
      assert.deepStrictEqual(yield* typesOf(account, sent), [])
      assert.deepStrictEqual(yield* typesOf(account, disabled), [])
      assert.deepStrictEqual(yield* typesOf(other, foreign), [])
    }))

  test("publishes with the other writes of a unit of work or not at all, and wakes the workers after the commit", () =>
    Effect.scoped(Effect.gen(function*() {
      const webhooks = yield* Webhooks
      const { atomically } = yield* UnitOfWork
      const wakeup = yield* (yield* Wakeup).subscribe
      const account = yield* makeAccount
      const { endpoint: { id } } = yield* webhooks.create(account, { url: "https://example.com" })
      const publish = webhooks.publish([event(account, "order.paid")])
      const undone = Effect.andThen(publish, Effect.fail(new Undone())).pipe(atomically)
      assert.instanceOf(yield* Effect.flip(undone), Undone)
      assert.deepStrictEqual(yield* webhooks.deliveries(account, id, { limit: 10 }), [])
      assert.isFalse(wakeup.isOpen())
      yield* Effect.gen(function*() {
        yield* publish
        assert.isFalse(wakeup.isOpen())
      }).pipe(atomically)
      assert.isTrue(wakeup.isOpen())
      assert.strictEqual((yield* webhooks.deliveries(account, id, { limit: 10 })).length, 1)
      yield* wakeup.close
      yield* webhooks.publish([event(yield* makeAccount, "order.paid")])
      yield* webhooks.publish([])
      assert.isFalse(wakeup.isOpen())
    })))
}

/** Registers tests of the events and the pages of deliveries. */
export const deliveryTests = (test: Register): void => {
  test("returns the event of a delivery of the account", () =>
    Effect.gen(function*() {
      const webhooks = yield* Webhooks
      const account = yield* makeAccount
      const { endpoint: { id } } = yield* webhooks.create(account, { url: "https://example.com" })
      const data = { order: "1", lines: [1, null] }
      yield* webhooks.publish([{ account, type: "order.paid", data }])
      const [delivery] = yield* webhooks.deliveries(account, id, { limit: 1 })
      assert.isDefined(delivery)
      assert.deepStrictEqual(yield* webhooks.event(account, id, delivery.id), {
        id: delivery.event,
        account,
        type: "order.paid",
        data,
        createdAt: delivery.createdAt
      })
      const { endpoint: { id: other } } = yield* webhooks.create(account, { url: "https://example.org" })
      const stranger = yield* makeAccount
      assert.deepInclude(yield* refusalOf(webhooks.event(account, other, delivery.id)), { _tag: "DeliveryNotFound" })
      assert.deepInclude(yield* refusalOf(webhooks.event(stranger, id, delivery.id)), { _tag: "DeliveryNotFound" })
      yield* webhooks.remove(account, id)
      assert.deepInclude(yield* refusalOf(webhooks.event(account, id, delivery.id)), { _tag: "DeliveryNotFound" })
    }))

  test("returns pages of at most 100 deliveries", () =>
    Effect.gen(function*() {
      const webhooks = yield* Webhooks
      const account = yield* makeAccount
      const { endpoint: { id } } = yield* webhooks.create(account, { url: "https://example.com" })
      yield* webhooks.publish(Array.from({ length: 130 }, (_, n) => event(account, "order.paid", { n })))
      const first = yield* webhooks.deliveries(account, id, { limit: 1_000 })
      const second = yield* webhooks.deliveries(account, id, { limit: 1_000, before: first.at(-1)!.id })
      assert.deepStrictEqual([first.length, second.length], [100, 30])
      const ids: ReadonlyArray<DeliveryId> = [...first, ...second].map(({ id }) => id)
      assert.deepStrictEqual(ids, [...new Set(ids)].toSorted().toReversed())
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const event = (account: string, type: string, data: NewEvent["data"] = {}): NewEvent => ({ account, type, data })
