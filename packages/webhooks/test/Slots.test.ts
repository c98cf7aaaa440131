import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Duration, Effect, Latch } from "effect"
import { TestClock } from "effect/testing"
import type { Claimed, DeliveryId } from "../src/Delivery.ts"
import type { EndpointId } from "../src/Endpoint.ts"
import type { EventId } from "../src/Event.ts"
import * as DueEndpoints from "../src/internal/worker/DueEndpoints.ts"
import * as Slots from "../src/internal/worker/Slots.ts"
import { type Due, WebhookStore } from "../src/WebhookStore.ts"
import { makeClockBehind, memory } from "./SendingWorld.ts"

const limits = { sendsMax: 8, accountSendsMax: 8, endpointSendsMax: 8, suspectSendsMax: 4, reservedSends: 2 }
const start = { now: 0, monotonic: 0 }

const dueOf = (n: number): Due => ({
  endpoint: `whep_${String(n).padStart(6, "0")}` as EndpointId,
  account: `account-${n}`
})

/** A slot whose send is in flight from the start. */
const slotOf = ({ account, endpoint }: Due): Slots.Slot => {
  const createdAt = DateTime.makeUnsafe(0)
  const claimed: Claimed = {
    delivery: "dlv_1" as DeliveryId,
    claims: 1,
    endpoint: {
      id: endpoint,
      account,
      url: "https://example.test/",
      types: null,
      status: "enabled",
      createdAt,
      secretCreatedAt: createdAt
    },
    secrets: [],
    event: { id: "evt_1" as EventId, account, type: "order.paid", data: null, createdAt },
    dueAt: createdAt,
    attempt: 1,
    failedSends: 0,
    body: null
  }
  return { claimed, until: 30_000, sendingSince: 0, isOver: false }
}

/** Fills all slots with sends that never end. */
const hangAll = Effect.fnUntraced(function*(slots: Slots.Slots) {
  for (;;) {
    const asked = slots.ask(start, 128)
    if (asked.length === 0) return
    for (const { listed } of asked) yield* slots.hold(slotOf(listed), Effect.never)
  }
})

/** Polls a store whose pages are returned by `due`. */
const makeLooking = Effect.fnUntraced(function*(
  slots: Slots.Slots,
  wakeup: Latch.Latch,
  due: (limit: number, after: EndpointId) => ReadonlyArray<Due>
) {
  const store = yield* WebhookStore
  const listing = WebhookStore.of({
    ...store,
    due: (_, limit, after = "" as EndpointId) => Effect.sync(() => ({ endpoints: due(limit, after), nextAt: null }))
  })
  return yield* DueEndpoints.make(slots, wakeup, { lookPause: Duration.zero, pollInterval: Duration.seconds(1) }).pipe(
    Effect.provideService(WebhookStore, listing)
  )
})

const endpointsOf = (asked: ReadonlyArray<Slots.Asked>) => asked.map(({ endpoint }) => endpoint)

describe("Slots", () => {
  it.effect("demands deliveries of proven endpoints regardless of how many dead ones wait", () =>
    Effect.gen(function*() {
      const slots = Slots.make(limits, 2000)
      slots.list(Array.from({ length: 20_000 }, (_, n) => dueOf(n)))
      yield* hangAll(slots)
      const good = dueOf(30_000)
      slots.end(slotOf(good), true)
      slots.list([good])
      assert.deepStrictEqual(endpointsOf(slots.ask(start, 128)), [good.endpoint])
    }))

  it.effect("makes an endpoint a suspect while its slow send is still in flight, by the monotonic clock", () =>
    Effect.gen(function*() {
      const slots = Slots.make(limits, 2000)
      const hanging = dueOf(1)
      for (let answer = 0; answer < 4; answer++) slots.end(slotOf(hanging), true)
      slots.list([hanging])
      yield* slots.hold(slotOf(hanging), Effect.never)
      // Six of eight: the last two are reserved for accounts without a send.
      assert.deepInclude(slots.ask({ now: 0, monotonic: 2000 }, 128)[0], { limit: 5 })
      // Three of the four slots for suspects.
      assert.deepInclude(slots.ask({ now: 0, monotonic: 2001 }, 128)[0], { limit: 2 })
    }))

  it("moves a waiting endpoint to the suspects after a failure", () => {
    const slots = Slots.make(limits, 2000)
    const suspects = Array.from({ length: 1000 }, (_, n) => dueOf(n))
    for (const one of suspects) slots.end(slotOf(one), true)
    slots.list(suspects)
    for (const one of suspects) slots.end(slotOf(one), false)
    const good = dueOf(2000)
    slots.end(slotOf(good), true)
    slots.list([good])
    assert.include(endpointsOf(slots.ask(start, 1)), good.endpoint)
  })

  it.effect("polls all pages of a round while thousands of dead endpoints wait", () =>
    Effect.gen(function*() {
      const slots = Slots.make(limits, 2000)
      const dead = Array.from({ length: 20_000 }, (_, n) => dueOf(n + 1))
      const good = dueOf(0)
      let all = dead
      const wakeup = Latch.makeUnsafe(false)
      const looking = yield* makeLooking(
        slots,
        wakeup,
        (limit, after) => all.filter(({ endpoint }) => endpoint > after).slice(0, limit)
      )
      yield* Effect.forkScoped(looking.loop)
      for (let turn = 0; turn < 2000; turn++) yield* Effect.yieldNow
      yield* hangAll(slots)
      slots.end(slotOf(good), true)
      all = [good, ...dead]
      yield* wakeup.open
      while (!endpointsOf(slots.ask(start, 128)).includes(good.endpoint)) yield* Effect.yieldNow
    }).pipe(Effect.provide(memory)))

  it.effect("polls again after the interval even if the clock is set back during a poll", () =>
    Effect.gen(function*() {
      let back = 0
      const behind = yield* makeClockBehind(() => back)
      let looks = 0
      const looking = yield* makeLooking(Slots.make(limits, 2000), Latch.makeUnsafe(false), () => {
        looks++
        back = 3_600_000
        return []
      })
      yield* TestClock.adjust("1 day")
      yield* Effect.forkScoped(Effect.provideService(looking.loop, Clock.Clock, behind))
      yield* TestClock.adjust("1 second")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(looks, 3)
    }).pipe(Effect.provide(memory)))
})
