import { assert, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Transfers from "../src/middleware/transfers.ts"

const limits: Transfers.TransferLimits = {
  rateMin: 100,
  stallMax: Duration.seconds(10),
  timeMax: Duration.infinity
}

const start = Effect.fnUntraced(function*(some: Partial<Transfers.TransferLimits> = {}) {
  const transfers = yield* Transfers.make
  const transfer = new Transfers.Transfer({ ...limits, ...some })
  let hasEnded = false
  transfers.start(transfer, () => {
    hasEnded = true
  })
  return { transfer, hasEnded: () => hasEnded }
})

it.effect("ends a transfer that stalls", () =>
  Effect.gen(function*() {
    const { hasEnded, transfer } = yield* start()
    // Bytes that arrive at once do not allow a longer stall.
    transfer.count(1e9)
    yield* TestClock.adjust("10 seconds")
    assert.isFalse(hasEnded())
    yield* TestClock.adjust("1 second")
    assert.isTrue(hasEnded())
  }).pipe(Effect.scoped))

it.effect("ends a transfer that is slower than the rate, and not one that is as fast", () =>
  Effect.gen(function*() {
    const [slow, fast] = [yield* start(), yield* start()]
    for (let second = 0; second < 20; second++) {
      assert.isFalse(slow.hasEnded(), `ended after ${second} seconds`)
      slow.transfer.count(50)
      fast.transfer.count(100)
      yield* TestClock.adjust("1 second")
    }
    assert.isTrue(slow.hasEnded())
    assert.isFalse(fast.hasEnded())
  }).pipe(Effect.scoped))

it.effect("does not count the time in which a transfer is paused", () =>
  Effect.gen(function*() {
    const { hasEnded, transfer } = yield* start()
    transfer.pause()
    yield* TestClock.adjust("1 hour")
    assert.isFalse(hasEnded())
    transfer.resume()
    yield* TestClock.adjust("11 seconds")
    assert.isTrue(hasEnded())
  }).pipe(Effect.scoped))

it.effect("ends a transfer after its longest time, however fast it is", () =>
  Effect.gen(function*() {
    const { hasEnded, transfer } = yield* start({ timeMax: Duration.seconds(3) })
    for (let second = 0; second < 4; second++) {
      assert.isFalse(hasEnded())
      transfer.count(1e6)
      yield* TestClock.adjust("1 second")
    }
    assert.isTrue(hasEnded())
  }).pipe(Effect.scoped))
