/** Tests of how deliveries end. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Claimed } from "../../Delivery.ts"
import { type Settlement, WebhookStore } from "../../WebhookStore.ts"
import type { Register } from "./tests.ts"
import { at, makeWorld, settlementOf } from "./world.ts"

/** Registers tests of settlements. */
export const settlementTests = (test: Register): void => {
  test("settles only claims that still hold", () =>
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
      // Repeats the settlement, as a worker does that did not receive the response.
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

  test("ends a delivery without a log line and without a failed send if no request was made", () =>
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

  test("settles overlapping sets in any order without a deadlock", () =>
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
}

/** Registers tests of sends that do not count. */
export const releaseTests = (test: Register): void => {
  test("does not count deliveries to a disabled endpoint as failed sends, and logs the first of many", () =>
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

  test("does not count released claims as attempts, and never reuses a claim number", () =>
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
      // Repeats the settlement, as a worker does that did not receive the response.
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
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The settlement of a delivery to a disabled endpoint. */
const disabledAt = ({ attempt, claims, delivery }: Claimed, seconds: number): Settlement => ({
  delivery,
  claims,
  next: { _tag: "Failed" },
  send: { outcome: { reason: "disabled", httpStatus: null }, attempt, at: at(seconds), durationMillis: 0 }
})
