/** Tests of endpoints whose sends fail. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Data, DateTime, type Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Claimed } from "../../Delivery.ts"
import type { EndpointId } from "../../Endpoint.ts"
import { WebhookStore } from "../../WebhookStore.ts"
import { instance, makeAccount } from "./services.ts"
import type { Register } from "./tests.ts"
import { settlementOf } from "./world.ts"

class Undone extends Data.TaggedError("Undone")<{}> {}

/** Registers tests of endpoints that fail for days. */
export const failingTests = (test: Register): void => {
  test("disables an endpoint of which every send failed for 5 days, and publishes an event about it", () =>
    Effect.gen(function*() {
      const { account, create, send, statusOf, webhooks } = yield* makeAccountWithSends
      const failing = yield* create("failing")
      const other = yield* create("other")
      const since = yield* DateTime.now
      yield* send(failing, "Failed")
      yield* TestClock.adjust("119 hours")
      yield* send(failing, "Again")
      assert.strictEqual(yield* webhooks.disableFailing(100), 0)
      yield* TestClock.adjust("1 hour")
      yield* send(failing, "Failed")
      assert.strictEqual(yield* webhooks.disableFailing(100), 1)
      assert.deepStrictEqual([yield* statusOf(failing), yield* statusOf(other)], ["disabled", "enabled"])
      assert.strictEqual(yield* webhooks.disableFailing(100), 0)

      const [told, ...more] = yield* webhooks.deliveries(account, other, { limit: 10 })
      assert.deepStrictEqual([told?.type, more], ["webhook.disabled", []])
      const { data } = yield* webhooks.event(account, other, told!.id)
      assert.deepStrictEqual<unknown>(data, {
        endpoint: failing,
        url: "https://failing.example.com/",
        failing_since: DateTime.formatIso(since)
      })
      // The backlog of the disabled endpoint has no further event.
      assert.isTrue(
        (yield* webhooks.deliveries(account, failing, { limit: 10 })).every(({ type }) => type === "webhook.test")
      )
    }))

  test("keeps an endpoint with a success within the time", () =>
    Effect.gen(function*() {
      const { create, send, statusOf, webhooks } = yield* makeAccountWithSends
      const endpoint = yield* create("recovering")
      yield* send(endpoint, "Failed")
      yield* TestClock.adjust("4 days")
      yield* send(endpoint, "Delivered")
      yield* send(endpoint, "Failed")
      yield* TestClock.adjust("4 days")
      yield* send(endpoint, "Failed")
      assert.strictEqual(yield* webhooks.disableFailing(100), 0)
      assert.strictEqual(yield* statusOf(endpoint), "enabled")
      yield* TestClock.adjust("1 days")
      yield* send(endpoint, "Failed")
      assert.strictEqual(yield* webhooks.disableFailing(100), 1)
    }))

  test("keeps an endpoint to which nothing is sent after its failures", () =>
    Effect.gen(function*() {
      const { create, send, statusOf, webhooks } = yield* makeAccountWithSends
      const endpoint = yield* create("quiet")
      yield* send(endpoint, "Failed")
      yield* TestClock.adjust("30 days")
      assert.strictEqual(yield* webhooks.disableFailing(100), 0)
      assert.strictEqual(yield* statusOf(endpoint), "enabled")
    }))
}

/** Registers tests of outcomes that are stored late, and of resealed secrets. */
export const outOfOrderTests = (test: Register): void => {
  test("keeps an endpoint with a success that is stored before an earlier failure", () =>
    Effect.gen(function*() {
      const { claim, create, send, settle, statusOf, webhooks } = yield* makeAccountWithSends
      const [early, repeated] = [yield* create("early"), yield* create("repeated")]
      const failures = yield* Effect.forEach([early, repeated], claim)
      // A worker repeats a settlement whose outcome is unknown.
      yield* settle(failures[1]!, "Failed")
      const time = yield* DateTime.now
      yield* TestClock.adjust("1 hour")
      yield* Effect.forEach([early, repeated], (endpoint) => send(endpoint, "Delivered"), { discard: true })
      yield* Effect.forEach(failures, (claimed) => settle(claimed, "Failed", time), { discard: true })
      yield* TestClock.adjust("6 days")
      yield* Effect.forEach([early, repeated], (endpoint) => send(endpoint, "Failed"), { discard: true })
      assert.strictEqual(yield* webhooks.disableFailing(100), 0)
      yield* TestClock.adjust("119 hours")
      yield* Effect.forEach([early, repeated], (endpoint) => send(endpoint, "Failed"), { discard: true })
      assert.strictEqual(yield* webhooks.disableFailing(100), 0)
      assert.strictEqual(yield* statusOf(early), "enabled")
      yield* TestClock.adjust("1 hour")
      yield* Effect.forEach([early, repeated], (endpoint) => send(endpoint, "Failed"), { discard: true })
      assert.strictEqual(yield* webhooks.disableFailing(100), 2)
    }))

  test("does not begin the time again when secrets are sealed again", () =>
    Effect.gen(function*() {
      const { create, rotate, send, webhooks } = yield* makeAccountWithSends
      const endpoint = yield* create("resealed")
      yield* rotate(endpoint, "1 day")
      yield* send(endpoint, "Failed")
      yield* TestClock.adjust("2 days")
      // Deletes the secret that has expired.
      assert.strictEqual(yield* webhooks.reseal(100), 1)
      yield* TestClock.adjust("3 days")
      yield* send(endpoint, "Failed")
      assert.strictEqual(yield* webhooks.disableFailing(100), 1)
    }))
}

/** Registers the test of changes that end failures. */
export const restartedTimeTests = (test: Register): void => {
  test("begins the time again after a change of the endpoint and after a new secret", () =>
    Effect.gen(function*() {
      const { account, create, send, statusOf, webhooks } = yield* makeAccountWithSends
      const changed = yield* create("changed")
      const rotated = yield* create("rotated")
      const changes = [
        webhooks.update(account, changed, { url: "https://repaired.example.com" }),
        webhooks.rotate(account, rotated)
      ]
      yield* Effect.forEach([changed, rotated], (endpoint) => send(endpoint, "Failed"), { discard: true })
      yield* TestClock.adjust("4 days")
      yield* Effect.all(changes)
      yield* TestClock.adjust("2 days")
      yield* Effect.forEach([changed, rotated], (endpoint) => send(endpoint, "Failed"), { discard: true })
      assert.strictEqual(yield* webhooks.disableFailing(100), 0)
      assert.deepStrictEqual([yield* statusOf(changed), yield* statusOf(rotated)], ["enabled", "enabled"])

      yield* TestClock.adjust("5 days")
      yield* Effect.forEach([changed, rotated], (endpoint) => send(endpoint, "Failed"), { discard: true })
      assert.strictEqual(yield* webhooks.disableFailing(1), 1)
      assert.strictEqual(yield* webhooks.disableFailing(1), 1)
      // An endpoint that is enabled again has the whole time.
      yield* webhooks.update(account, changed, { status: "enabled" })
      yield* send(changed, "Failed")
      assert.strictEqual(yield* webhooks.disableFailing(100), 0)
    }))
}

/** Registers tests of concurrent processes and units of work. */
export const failingUnitTests = (test: Register): void => {
  test("disables each endpoint once in concurrent processes, with one event", () =>
    Effect.gen(function*() {
      const { account, create, send, webhooks } = yield* makeAccountWithSends
      const other = yield* create("informed")
      const failing = yield* Effect.forEach(["a", "b", "c"], create)
      yield* Effect.forEach(failing, (endpoint) => send(endpoint, "Failed"), { discard: true })
      yield* TestClock.adjust("5 days")
      yield* Effect.forEach(failing, (endpoint) => send(endpoint, "Failed"), { discard: true })
      const processes = yield* Effect.forEach([1, 2, 3], () => instance({ disableAfter: "5 days" }))
      const counts = yield* Effect.forEach(processes, ({ disableFailing }) => disableFailing(100), {
        concurrency: "unbounded"
      })
      assert.strictEqual(counts.reduce((sum, count) => sum + count, 0) + (yield* webhooks.disableFailing(100)), 3)
      assert.strictEqual((yield* webhooks.deliveries(account, other, { limit: 10 })).length, 3)
    }))

  test("disables nothing if its transaction rolls back, and nothing without the option", () =>
    Effect.gen(function*() {
      const { account, create, send, statusOf, webhooks } = yield* makeAccountWithSends
      const { atomically } = yield* UnitOfWork
      const endpoint = yield* create("undone")
      const other = yield* create("uninformed")
      yield* send(endpoint, "Failed")
      yield* TestClock.adjust("5 days")
      yield* send(endpoint, "Failed")
      const without = yield* instance()
      assert.strictEqual(yield* without.disableFailing(100), 0)
      yield* webhooks.disableFailing(100).pipe(Effect.andThen(new Undone()), atomically, Effect.flip)
      assert.strictEqual(yield* statusOf(endpoint), "enabled")
      assert.deepStrictEqual(yield* webhooks.deliveries(account, other, { limit: 10 }), [])
      assert.strictEqual(yield* webhooks.disableFailing(100), 1)
      assert.strictEqual(yield* statusOf(endpoint), "disabled")
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Tag = "Again" | "Delivered" | "Failed"

/** A new account, with functions that register endpoints and end sends to them. */
const makeAccountWithSends = Effect.gen(function*() {
  const webhooks = yield* instance({ disableAfter: "5 days" })
  const store = yield* WebhookStore
  const account = yield* makeAccount

  const create = (host: string) =>
    Effect.map(
      webhooks.create(account, { url: `https://${host}.example.com`, types: ["webhook.disabled"] }),
      ({ endpoint }) => endpoint.id
    )

  /** Begins to send an event to the endpoint. */
  const claim = Effect.fnUntraced(function*(endpoint: EndpointId) {
    yield* webhooks.test(account, endpoint)
    const now = yield* DateTime.now
    const [claimed, ...more] = yield* store.claim([{ endpoint, limit: 1 }], now, DateTime.add(now, { days: 1 }))
    assert.strictEqual(more.length, 0)
    return claimed!
  })

  /** Stores the outcome of a send at a time. */
  const settle = Effect.fnUntraced(function*(claimed: Claimed, tag: Tag, time?: DateTime.Utc) {
    const now = time ?? (yield* DateTime.now)
    const next = tag === "Again" ? { _tag: tag, dueAt: DateTime.add(now, { days: 90 }) } as const : { _tag: tag }
    yield* store.settle([settlementOf(claimed, next, now)])
  })

  /** Sends an event to the endpoint, with this outcome. */
  const send = (endpoint: EndpointId, tag: Tag) => Effect.flatMap(claim(endpoint), (claimed) => settle(claimed, tag))

  const rotate = (endpoint: EndpointId, overlap: Duration.Input) => webhooks.rotate(account, endpoint, overlap)

  const statusOf = (endpoint: EndpointId) => Effect.map(webhooks.get(account, endpoint), ({ status }) => status)

  return { account, claim, create, rotate, send, settle, statusOf, webhooks }
})
