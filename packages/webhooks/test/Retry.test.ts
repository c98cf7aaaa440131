import { assert, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Schema } from "effect"
import type { Claimed, DeliveryId } from "../src/Delivery.ts"
import type { EndpointId } from "../src/Endpoint.ts"
import type { EventId } from "../src/Event.ts"
import * as Retry from "../src/internal/rules/retry.ts"
import { defaultSchedule } from "../src/Retry.ts"

const start = DateTime.makeUnsafe(0)
const failed = { reason: "status_500", httpStatus: 500 } as const

const claimed = (attempt: number, failedSends: number): Claimed => ({
  delivery: "dlv_" as DeliveryId,
  claims: attempt,
  endpoint: {
    id: "whep_" as EndpointId,
    account: "account",
    url: "https://example.test/",
    types: null,
    status: "enabled",
    createdAt: start,
    secretCreatedAt: start
  },
  secrets: [],
  event: { id: "evt_" as EventId, account: "account", type: "order.paid", data: null, createdAt: start },
  dueAt: start,
  attempt,
  failedSends,
  body: null
})

it("sends 4 times, 10, 60 and 300 seconds after the end of the previous failed send", () => {
  const sends: Array<number> = []
  let now = start
  for (let failedSends = 0;; failedSends++) {
    sends.push(now.epochMilliseconds / 1000)
    assert.isTrue(Retry.maySend(claimed(failedSends + 1, failedSends), defaultSchedule))
    const next = Retry.after(claimed(failedSends + 1, failedSends), failed, now, defaultSchedule)
    if (next._tag !== "Again") {
      assert.deepStrictEqual(next, { _tag: "Failed" })
      break
    }
    now = next.dueAt
  }
  assert.deepStrictEqual(sends, [0, 10, 70, 370])
})

it("ends with the first 2xx response", () => {
  const ok = { reason: "ok", httpStatus: 204 } as const
  assert.deepStrictEqual(Retry.after(claimed(4, 3), ok, start, defaultSchedule), { _tag: "Delivered" })
})

it("fails immediately if the endpoint is disabled", () => {
  const disabled = { reason: "disabled", httpStatus: null } as const
  assert.deepStrictEqual(Retry.after(claimed(1, 0), disabled, start, defaultSchedule), { _tag: "Failed" })
})

/** The end of each claim: its send fails, the worker crashes before or after the send, or the claim is released. */
const Happening = Schema.Literals(["fails", "crashes", "is given back"])
const Happenings = Schema.Array(Happening).check(Schema.isMinLength(1))
const Pauses = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 })))

it.effect.prop(
  "sends at most once more than the schedule after crashes, and exactly by the schedule without a crash",
  [Pauses, Happenings],
  ([pauses, happenings]) =>
    Effect.sync(() => {
      const schedule = pauses.map(Duration.seconds)
      let attempt = 0
      let failedSends = 0
      let crashes = 0
      let isOver = false
      for (const happening of happenings) {
        const claim = claimed(attempt + 1, failedSends)
        if (!Retry.maySend(claim, schedule)) {
          isOver = true
          break
        }
        if (happening === "is given back") continue
        attempt++
        if (happening === "crashes") {
          crashes++
          continue
        }
        const next = Retry.after(claim, failed, start, schedule)
        if (next._tag === "Failed") {
          failedSends++
          isOver = true
          break
        }
        assert.strictEqual(next._tag === "Again" ? next.dueAt.epochMilliseconds : -1, pauses[failedSends]! * 1000)
        failedSends++
      }
      assert.isAtMost(attempt, schedule.length + 2)
      assert.isAtMost(failedSends, schedule.length + 1)
      // One crash uses up no send of the schedule.
      if (isOver && crashes <= 1) assert.strictEqual(failedSends, schedule.length + 1)
    })
)

it("fails immediately if no further send is allowed", () => {
  assert.deepStrictEqual(Retry.after(claimed(5, 2), failed, start, defaultSchedule), { _tag: "Failed" })
  assert.isFalse(Retry.maySend(claimed(6, 2), defaultSchedule))
  assert.isTrue(Retry.maySend(claimed(5, 0), defaultSchedule))
})
