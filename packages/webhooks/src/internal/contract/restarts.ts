/** Tests of deliveries that are sent again, and of endpoints of other accounts. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import type { DeliveryId } from "../../Delivery.ts"
import type { EndpointId } from "../../Endpoint.ts"
import { Webhooks } from "../../Webhooks.ts"
import { WebhookStore } from "../../WebhookStore.ts"
import { instance, makeAccount, refusalOf } from "./services.ts"
import type { Register } from "./tests.ts"
import { settlementOf } from "./world.ts"

/** Registers tests of restarts. */
export const restartTests = (test: Register): void => {
  test("resends an ended delivery under its id with the whole schedule", () =>
    Effect.gen(function*() {
      const webhooks = yield* Webhooks
      const account = yield* makeAccount
      const { endpoint: { id } } = yield* webhooks.create(account, { url: "https://example.com" })
      const { id: delivery } = yield* webhooks.test(account, id)
      const pending = yield* refusalOf(webhooks.resend(account, delivery))
      assert.deepInclude(pending, { _tag: "DeliveryPending", delivery })
      yield* fail(id)
      yield* webhooks.update(account, id, { status: "disabled" })
      assert.deepInclude(yield* refusalOf(webhooks.resend(account, delivery)), { _tag: "EndpointDisabled" })
      yield* webhooks.update(account, id, { status: "enabled" })
      yield* TestClock.adjust("1 hour")
      const resent = yield* webhooks.resend(account, delivery)
      assert.deepInclude(resent, { id: delivery, status: "pending", failedSends: 0, dueAt: yield* DateTime.now })
      assert.deepStrictEqual(yield* webhooks.deliveries(account, id, { limit: 10 }), [resent])
      const [claimed] = yield* fail(id)
      assert.deepInclude(claimed, { delivery, attempt: 1, failedSends: 0 })
      assert.deepStrictEqual((yield* webhooks.sends(account, id)).map((line) => line.attempt), [1, 1])
    }))

  test("resends the failed deliveries of an endpoint since a time, oldest first, up to a number of pending ones", () =>
    Effect.gen(function*() {
      const webhooks = yield* Webhooks
      const limited = yield* instance({ resendMax: 3 })
      const account = yield* makeAccount
      const { endpoint: { id } } = yield* webhooks.create(account, { url: "https://example.com" })
      const { endpoint: { id: other } } = yield* webhooks.create(account, { url: "https://example.org" })
      const ids: Array<DeliveryId> = []
      for (let n = 0; n < 5; n++) {
        ids.push((yield* webhooks.test(account, id)).id)
        yield* fail(id)
        yield* TestClock.adjust("1 minute")
      }
      yield* webhooks.test(account, other)
      const since = DateTime.subtract(yield* DateTime.now, { minutes: 4 })
      const pending = Effect.map(
        webhooks.deliveries(account, id, { limit: 10 }),
        (deliveries) => deliveries.filter(({ status }) => status === "pending").map(({ id }) => id).toReversed()
      )
      // One of the three is pending already.
      assert.deepStrictEqual(yield* limited.resendFailed(account, id, since), { restarted: 2, left: 2 })
      assert.deepStrictEqual(yield* pending, ids.slice(1, 3))
      assert.deepStrictEqual(yield* limited.resendFailed(account, id, since), { restarted: 0, left: 2 })
      assert.deepStrictEqual(yield* webhooks.resendFailed(account, id, since), { restarted: 2, left: 0 })
      assert.deepStrictEqual(yield* pending, ids.slice(1))
      const stranger = yield* makeAccount
      assert.deepInclude(yield* refusalOf(webhooks.resendFailed(stranger, id, since)), { _tag: "EndpointNotFound" })
      yield* webhooks.update(account, id, { status: "disabled" })
      assert.deepInclude(yield* refusalOf(webhooks.resendFailed(account, id, since)), { _tag: "EndpointDisabled" })
    }))
}

/** Registers tests of limits and refusals inside units of work. */
export const refusalTests = (test: Register): void => {
  test("a refusal does not roll back the open unit of work", () =>
    Effect.gen(function*() {
      const webhooks = yield* Webhooks
      const { atomically } = yield* UnitOfWork
      const account = yield* makeAccount
      const { endpoint: { id } } = yield* webhooks.create(account, { url: "https://example.com" })
      const { id: delivery } = yield* webhooks.test(account, id)
      yield* Effect.gen(function*() {
        yield* Effect.flip(webhooks.resend(account, delivery))
        for (const _ of [2, 3, 4, 5]) yield* webhooks.create(account, { url: "https://example.com" })
        yield* Effect.flip(webhooks.create(account, { url: "https://example.com" }))
        yield* webhooks.remove(account, id)
        yield* Effect.flip(webhooks.rotate(account, id))
        yield* Effect.flip(webhooks.remove(account, id))
      }).pipe(atomically)
      assert.strictEqual((yield* webhooks.list(account)).length, 4)
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Fails the endpoint's due delivery. */
const fail = Effect.fnUntraced(function*(id: EndpointId) {
  const store = yield* WebhookStore
  const now = yield* DateTime.now
  const claimed = yield* store.claim([{ endpoint: id, limit: 1 }], now, now)
  yield* store.settle(claimed.map((one) => settlementOf(one, { _tag: "Failed" }, now)))
  return claimed
})
