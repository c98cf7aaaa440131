import { assert, it } from "@effect/vitest"
import { StorageError } from "@kinora/persistence"
import { Effect, Layer, Logger, Metric } from "effect"
import { TestClock } from "effect/testing"
import * as ClockCheck from "../src/ClockCheck.ts"

/** Starts the check over these measurements, in order; `undefined` fails. Returns what it logs. */
const start = Effect.fnUntraced(function*(skews: ReadonlyArray<number | undefined>, roundTripMillis = 0) {
  const logged: Array<unknown> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
    logged.push([logLevel, Array.isArray(message) ? message[0] : message])
  })
  let next = 0
  const measure = Effect.suspend(() => {
    const aheadMillis = skews[next++]
    return aheadMillis === undefined
      ? Effect.fail(new StorageError.StorageError({ operation: "test", reason: "unavailable", cause: "test" }))
      : Effect.succeed({ aheadMillis, roundTripMillis })
  })
  yield* Layer.build(ClockCheck.layerWith(measure)).pipe(Effect.provide(Logger.layer([logger])))
  return logged
})

it.effect("does not start with a skew above 2 seconds, and names both clocks", () =>
  Effect.gen(function*() {
    const messageOf = (skews: ReadonlyArray<number>) => Effect.map(Effect.flip(start(skews)), ({ message }) => message)
    assert.strictEqual(
      yield* messageOf([119_960]),
      "The clock of this host is 120.0 s ahead of the clock of the database, and 2.0 s is the maximum. " +
        "Synchronize both clocks, for example with NTP"
    )
    assert.include(yield* messageOf([-2_100]), "2.1 s behind the clock of the database")
    assert.deepStrictEqual(yield* start([400]), [])
    // The round trip explains the difference.
    assert.deepStrictEqual(yield* start([2_400], 4_000), [])
  }))

it.effect("logs a skew above half a second when it begins and when it ends, and shows the last one as a metric", () =>
  Effect.gen(function*() {
    const logged = yield* start([600, -700, undefined, 100, 3_000])
    const warning = ["Warn", "The clocks of this host and the database differ"]
    assert.deepStrictEqual(logged, [warning])
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(logged, [warning])
    yield* TestClock.adjust("2 minutes")
    assert.deepStrictEqual(logged.slice(1), [
      ["Warn", "Comparing the clocks failed"],
      ["Info", "The clocks of this host and the database agree again"]
    ])
    // A process that runs continues with a skew with which it would not start.
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(logged.slice(3), [warning])
    const gauges = yield* Metric.snapshot
    assert.deepInclude(gauges.find(({ id }) => id === "kinora_clock_skew_seconds")?.state, { value: 3 })
  }))
