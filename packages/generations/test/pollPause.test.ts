/** The pause between two polls. */
import { assert, it } from "@effect/vitest"
import { Clock, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { pollPause } from "../src/internal/run/pollPause.ts"

it.effect("is the interval of the driver or a twentieth of the elapsed time, up to 30 seconds, and up to a tenth longer", () =>
  Effect.gen(function*() {
    const began = yield* Clock.monotonicTimeNanos
    const expected: ReadonlyArray<readonly [interval: number, elapsed: number, least: number]> = [
      [2, 0, 2],
      [2, 40, 2],
      [2, 200, 10],
      [2, 3_600, 30],
      [60, 3_600, 60]
    ]
    let now = 0
    for (const [interval, elapsed, least] of expected) {
      yield* TestClock.adjust(Duration.seconds(elapsed - now))
      now = elapsed
      const pauses = yield* Effect.replicateEffect(pollPause(Duration.seconds(interval), began), 100)
      const seconds = pauses.map(Duration.toSeconds)
      assert.isAtLeast(Math.min(...seconds), least)
      assert.isAtMost(Math.max(...seconds), least * 1.1)
      // A hundred uniformly distributed values are not all in one half.
      assert.isAbove(Math.max(...seconds) - Math.min(...seconds), least * 0.05)
    }
  }))

it.effect("is the interval of the driver if that is less than a second", () =>
  Effect.gen(function*() {
    const began = yield* Clock.monotonicTimeNanos
    yield* TestClock.adjust("1 hour")
    for (const millis of [0, 999]) {
      assert.strictEqual(Duration.toMillis(yield* pollPause(Duration.millis(millis), began)), millis)
    }
  }))
