/** Tests of accounts that are forgotten. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Data, DateTime, Effect } from "effect"
import type { EndpointId } from "../../Endpoint.ts"
import { Webhooks } from "../../Webhooks.ts"
import { WebhookStore } from "../../WebhookStore.ts"
import { makeAccount } from "./services.ts"
import type { Register } from "./tests.ts"
import { settlementOf } from "./world.ts"

/** Registers tests of what is deleted and what is left. */
export const forgetTests = (test: Register): void => {
  test("deletes endpoints, deliveries and logs in sets, and those of no other account", () =>
    Effect.gen(function*() {
      const { webhooks, ...own } = yield* makeSender
      const other = yield* makeSender
      const removed = yield* own.endpoint
      yield* own.publish(2)
      yield* webhooks.remove(own.account, removed.id)
      const kept = yield* own.endpoint
      yield* own.publish(5)
      const others = yield* other.endpoint
      yield* other.publish(3)
      yield* own.send(kept.id)
      yield* other.send(others.id)
      assert.strictEqual((yield* webhooks.sends(own.account, kept.id)).length, 5)

      // 7 deliveries, 5 lines and 2 endpoints. A store may have deleted the removed endpoint before.
      const count = yield* webhooks.forget({ account: own.account, limit: 2 })
      assert.include([13, 14], count)
      assert.strictEqual(yield* webhooks.forget({ account: own.account }), 0)
      assert.deepStrictEqual(yield* webhooks.list(own.account), [])
      assert.deepStrictEqual(yield* webhooks.history(own.account, "order"), { deliveries: [], sends: [] })
      assert.strictEqual((yield* webhooks.history(other.account, "order")).deliveries.length, 3)
      assert.strictEqual((yield* webhooks.sends(other.account, others.id)).length, 3)
    }))

  test("does not store the outcome of a send that has begun, and sends nothing that is pending", () =>
    Effect.gen(function*() {
      const { account, claim, endpoint, publish, store, webhooks } = yield* makeSender
      const { id } = yield* endpoint
      yield* publish(3)
      const claimed = yield* claim(id, 2)
      assert.strictEqual(claimed.length, 2)
      assert.strictEqual(yield* webhooks.forget({ account, limit: 1 }), 4)
      const settlements = claimed.map((claimed) => settlementOf(claimed, { _tag: "Delivered" }))
      assert.deepStrictEqual(yield* store.settle(settlements), [])
      assert.deepStrictEqual(yield* store.listSends(id, 10), [])
      assert.deepStrictEqual(yield* claim(id, 10), [])
      assert.strictEqual(yield* webhooks.forget({ account }), 0)
    }))

  test("leaves an account that can be used again, as one that is new", () =>
    Effect.gen(function*() {
      const { account, endpoint, publish, webhooks } = yield* makeSender
      for (let n = 0; n < 5; n++) yield* endpoint
      yield* publish(1)
      assert.strictEqual(yield* webhooks.forget({ account }), 10)
      const one = yield* endpoint
      yield* publish(1)
      assert.deepStrictEqual(
        (yield* webhooks.deliveries(account, one.id, { limit: 10 })).map(({ status }) => status),
        ["pending"]
      )
    }))
}

/** Registers tests of accounts that are forgotten in a unit, and beside others. */
export const concurrentForgetTests = (test: Register): void => {
  test("deletes nothing in a unit that rolls back", () =>
    Effect.gen(function*() {
      const { account, endpoint, publish, send, webhooks } = yield* makeSender
      const { atomically } = yield* UnitOfWork
      const one = yield* endpoint
      yield* publish(3)
      yield* send(one.id)
      const forgotten = Effect.tap(webhooks.forget({ account, limit: 2 }), (count) =>
        Effect.sync(() => assert.strictEqual(count, 7)))
      assert.instanceOf(
        yield* Effect.flip(atomically(Effect.andThen(forgotten, Effect.fail(new Undone())))),
        Undone
      )
      assert.deepStrictEqual(yield* webhooks.list(account), [one])
      assert.strictEqual((yield* webhooks.deliveries(account, one.id, { limit: 10 })).length, 3)
      assert.strictEqual((yield* webhooks.sends(account, one.id)).length, 3)
    }))

  test("is consistent while others publish, send, sweep and forget", () =>
    Effect.gen(function*() {
      const { account, claim, endpoint, publish, store, webhooks } = yield* makeSender
      const ids = [(yield* endpoint).id, (yield* endpoint).id]
      yield* publish(40)
      const work = Effect.gen(function*() {
        for (const id of ids) {
          const claimed = yield* claim(id, 7)
          yield* store.settle(claimed.map((claimed) => settlementOf(claimed, { _tag: "Delivered" })))
        }
        yield* webhooks.sweep(5)
        yield* publish(2)
      })
      yield* Effect.all(
        Array.from({ length: 12 }, (_, n) => n % 3 === 0 ? webhooks.forget({ account, limit: 3 }) : work),
        { concurrency: "unbounded", discard: true }
      )
      yield* webhooks.forget({ account })
      assert.deepStrictEqual(yield* webhooks.list(account), [])
      for (const id of ids) {
        assert.deepStrictEqual(yield* claim(id, 100), [])
        assert.deepStrictEqual(yield* store.listSends(id, 100), [])
      }
      assert.strictEqual(yield* webhooks.forget({ account }), 0)
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

class Undone extends Data.TaggedError("Undone")<{}> {}

/** A new account, and what it does. */
const makeSender = Effect.gen(function*() {
  const webhooks = yield* Webhooks
  const store = yield* WebhookStore
  const account = yield* makeAccount
  const endpoint = Effect.map(webhooks.create(account, { url: "https://example.com" }), ({ endpoint }) => endpoint)
  const publish = (count: number) =>
    webhooks.publish(Array.from({ length: count }, () => ({ account, type: "order.paid", data: {}, subject: "order" })))
  const claim = Effect.fnUntraced(function*(id: EndpointId, limit: number) {
    const now = yield* DateTime.now
    return yield* store.claim([{ endpoint: id, limit }], now, DateTime.add(now, { minutes: 1 }))
  })
  const send = Effect.fnUntraced(function*(id: EndpointId) {
    const claimed = yield* claim(id, 100)
    yield* store.settle(claimed.map((claimed) => settlementOf(claimed, { _tag: "Failed" })))
  })
  return { account, claim, endpoint, publish, send, store, webhooks }
})
