import { assert, it } from "@effect/vitest"
import { Effect, Layer, Queue } from "effect"
import { TestClock } from "effect/testing"
import * as Sweep from "../src/Sweep.ts"

/** Starts a sweep whose runs take their results from `results`, and returns the limits that it was called with. */
const start = Effect.fnUntraced(function*(results: ReadonlyArray<number | "fail">) {
  const calls = yield* Queue.unbounded<number>()
  let next = 0
  yield* Layer.build(Sweep.layer({
    name: "test rows",
    interval: "1 minute",
    limit: 10,
    run: (limit) =>
      Effect.andThen(
        Queue.offer(calls, limit),
        Effect.suspend(() => {
          const result = results[next++] ?? 0
          return result === "fail" ? Effect.fail("unavailable") : Effect.succeed(result)
        })
      )
  }))
  return calls
})

it.effect("runs after each interval, which varies by a quarter", () =>
  Effect.gen(function*() {
    const calls = yield* start([])
    yield* TestClock.adjust("44 seconds")
    assert.strictEqual(yield* Queue.size(calls), 0)
    yield* TestClock.adjust("31 seconds")
    assert.strictEqual(yield* Queue.size(calls), 1)
    yield* TestClock.adjust("10 minutes")
    const { length } = yield* Queue.takeAll(calls)
    assert.isTrue(length >= 9 && length <= 14, `${length}`)
  }).pipe(Effect.scoped))

it.effect("runs again immediately while a run reaches its limit", () =>
  Effect.gen(function*() {
    const calls = yield* start([10, 10, 3])
    yield* TestClock.adjust("75 seconds")
    assert.deepStrictEqual([...yield* Queue.takeAll(calls)].slice(0, 3), [10, 10, 10])
  }).pipe(Effect.scoped))

it.effect("continues after a failure", () =>
  Effect.gen(function*() {
    const calls = yield* start(["fail", 0])
    yield* TestClock.adjust("3 minutes")
    assert.isAtLeast(yield* Queue.size(calls), 2)
  }).pipe(Effect.scoped))

it.effect("interrupts a run at the deadline, and runs again after the interval", () =>
  Effect.gen(function*() {
    const events = yield* Queue.unbounded<string>()
    const run = Effect.andThen(Queue.offer(events, "run"), Effect.never).pipe(
      Effect.onInterrupt(() => Queue.offer(events, "interrupted"))
    )
    const hanging = Sweep.layer({ name: "test rows", interval: "1 minute", limit: 10, run: () => run })
    yield* Layer.build(hanging).pipe(Effect.provideService(Sweep.Deadline, "10 minutes"))
    yield* TestClock.adjust("10 minutes")
    assert.deepStrictEqual(yield* Queue.takeAll(events), ["run"])
    yield* TestClock.adjust("3 minutes")
    assert.deepStrictEqual(yield* Queue.takeAll(events), ["interrupted", "run"])
  }).pipe(Effect.scoped))

it.effect("waits with the overridden pause", () =>
  Effect.gen(function*() {
    const pauses = yield* Queue.unbounded<unknown>()
    const resumes = yield* Queue.unbounded<void>()
    const calls = yield* start([]).pipe(
      Effect.provideService(
        Sweep.Pause,
        (interval) => Effect.andThen(Queue.offer(pauses, interval), Queue.take(resumes))
      )
    )
    assert.strictEqual(yield* Queue.take(pauses), "1 minute")
    assert.strictEqual(yield* Queue.size(calls), 0)
    yield* Queue.offer(resumes, undefined)
    assert.strictEqual(yield* Queue.take(calls), 10)
  }).pipe(Effect.scoped))
