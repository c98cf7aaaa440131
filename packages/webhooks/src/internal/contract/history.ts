/** Tests of the history of a subject. */
import { assert } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { WebhookStore } from "../../WebhookStore.ts"
import { instance, makeAccount } from "./services.ts"
import type { Register } from "./tests.ts"
import { settlementOf } from "./world.ts"

/** Registers the tests. */
export const historyTests = (test: Register): void => {
  test("returns the deliveries and sends of the account's events about a subject, newest first", () =>
    Effect.gen(function*() {
      const { webhooks, account, endpoint, publish, send } = yield* makeHistory
      const other = yield* makeHistory
      yield* publish("order.paid", "order-1")
      yield* publish("order.paid", "order-2")
      yield* publish("order.sent")
      yield* other.publish("order.paid", "order-1")
      const at = yield* DateTime.now
      yield* send("Again")
      yield* publish("order.sent", "order-1")

      const { deliveries, sends } = yield* webhooks.history(account, "order-1")
      const seen = deliveries.map(({ endpoint, failedSends, status, subject, type }) => ({
        endpoint,
        failedSends,
        status,
        subject,
        type
      }))
      const delivery = { endpoint, status: "pending", subject: "order-1" }
      assert.deepStrictEqual<unknown>(seen, [
        { ...delivery, failedSends: 0, type: "order.sent" },
        { ...delivery, failedSends: 1, type: "order.paid" }
      ])
      const line = { reason: "status_500", httpStatus: 500, attempt: 1, at, durationMillis: 12 }
      assert.deepStrictEqual<unknown>(sends, [{ ...line, delivery: deliveries[1]!.id, type: "order.paid" }])
      const listed = yield* webhooks.deliveries(account, endpoint, { limit: 10 })
      assert.deepStrictEqual(listed.map(({ subject }) => subject), ["order-1", null, "order-2", "order-1"])
      assert.deepStrictEqual((yield* other.webhooks.history(other.account, "order-1")).sends, [])
      assert.deepStrictEqual(yield* webhooks.history(account, "order-3"), { deliveries: [], sends: [] })
    }))

  test("returns at most `historyMax` deliveries and sends", () =>
    Effect.gen(function*() {
      const { account, publish, send, webhooks } = yield* makeHistory
      for (const type of ["order.one", "order.two", "order.three", "order.four"]) yield* publish(type, "order-1")
      yield* send("Again")
      yield* send("Delivered", 1)
      const { deliveries, sends } = yield* webhooks.history(account, "order-1")
      assert.deepStrictEqual(deliveries.map(({ type }) => type), ["order.four", "order.three", "order.two"])
      // The second sends; there are six in all.
      assert.deepStrictEqual(sends.map(({ reason }) => reason), ["ok", "ok", "ok"])
    }))

  test("omits deliveries that were deleted, and those of removed endpoints", () =>
    Effect.gen(function*() {
      const { account, endpoint, publish, send, webhooks } = yield* makeHistory
      const store = yield* WebhookStore
      yield* publish("order.paid", "order-1")
      yield* send("Delivered")
      const now = yield* DateTime.now
      while ((yield* store.sweep(DateTime.add(now, { days: 1 }), 1_000)) > 0);
      assert.deepStrictEqual((yield* webhooks.history(account, "order-1")).deliveries, [])
      yield* publish("order.sent", "order-1")
      assert.strictEqual((yield* webhooks.history(account, "order-1")).deliveries.length, 1)
      yield* webhooks.remove(account, endpoint)
      assert.deepStrictEqual(yield* webhooks.history(account, "order-1"), { deliveries: [], sends: [] })
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** An account with one endpoint. `send` claims and settles all of its due deliveries. */
const makeHistory = Effect.gen(function*() {
  const webhooks = yield* instance({ historyMax: 3 })
  const store = yield* WebhookStore
  const account = yield* makeAccount
  const { endpoint: { id: endpoint } } = yield* webhooks.create(account, { url: "https://example.com" })

  const publish = (type: string, subject?: string) => webhooks.publish([{ account, type, data: {}, subject }])

  const send = Effect.fnUntraced(function*(tag: "Delivered" | "Again", seconds = 0) {
    const now = DateTime.add(yield* DateTime.now, { seconds })
    const claimed = yield* store.claim([{ endpoint, limit: 10 }], now, DateTime.add(now, { seconds: 30 }))
    const next = tag === "Again" ? { _tag: tag, dueAt: now } : { _tag: tag }
    yield* store.settle(claimed.map((claim) => settlementOf(claim, next, now)))
  })

  return { account, endpoint, publish, send, webhooks }
})
