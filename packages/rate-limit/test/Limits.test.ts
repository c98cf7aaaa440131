import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Budget, Limits, Places, RateLimit } from "../src/index.ts"

const day = 86_400_000

it.effect("deletes past counters in the background", () =>
  Effect.gen(function*() {
    const rateLimit = yield* RateLimit.RateLimit
    const budget = yield* Budget.Budget
    yield* rateLimit.hit({ key: "hits", limit: 1 })
    yield* budget.reserve({ key: "bytes", limit: 1, amount: 1 })
    yield* Layer.build(Limits.layerSweep())
    // The minute ends, and the next sweep of minutes is at most 1.25 times the interval later.
    yield* TestClock.adjust("1 minute")
    yield* TestClock.adjust("75 seconds")
    assert.strictEqual(yield* rateLimit.sweep(10), 0)
    // The day after the reservation ends, and past days are deleted every hour.
    yield* TestClock.setTime(2 * day)
    yield* TestClock.adjust("75 minutes")
    assert.strictEqual(yield* budget.sweep(10), 0)
  }).pipe(Effect.scoped, Effect.provide(Limits.layerMemory)))

it.effect("provides all services in memory", () =>
  Effect.gen(function*() {
    const { acquire } = yield* Places.Places
    assert.isTrue(yield* acquire({ key: "streams", max: 1 }))
    assert.isFalse(yield* acquire({ key: "streams", max: 1 }))
  }).pipe(Effect.scoped, Effect.provide(Limits.layerMemory)))
