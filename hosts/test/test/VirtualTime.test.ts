import { assert, it } from "@effect/vitest"
import { Cause, Clock, Effect, Exit, Fiber, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Sleepers from "../src/internal/Sleepers.ts"
import * as VirtualTime from "../src/VirtualTime.ts"

const startsAt = Date.UTC(2030, 0, 1)

/** Milliseconds since the start. */
const elapsed = Effect.map(Clock.currentTimeMillis, (now) => now - startsAt)

const virtual = <A, E, R>(effect: Effect.Effect<A, E, R | VirtualTime.VirtualTime>) =>
  Effect.provide(effect, VirtualTime.layer(startsAt))

/** Sleeps, then works for many turns of the scheduler, and records when it ended. */
const note = (notes: Array<string>, name: string, millis: number) =>
  Effect.repeat(Effect.yieldNow, { times: 20 }).pipe(
    Effect.andThen(elapsed),
    Effect.map((at) => notes.push(`${name} ${at}`)),
    Effect.delay(millis)
  )

/** Takes real time, like work on another thread. */
const realWork = Effect.forEach(
  Array.from({ length: 50 }),
  () => Effect.promise(() => new Promise((resolve) => setImmediate(resolve))),
  { discard: true }
)

it.effect("runs due work at its time and in order, and completes it before `advance` returns", () =>
  Effect.gen(function*() {
    const { advance } = yield* VirtualTime.VirtualTime
    const notes: Array<string> = []
    yield* Effect.forkChild(note(notes, "third", 2_000))
    yield* Effect.forkChild(Effect.andThen(note(notes, "first", 1_000), note(notes, "fourth", 1_500)))
    yield* Effect.forkChild(note(notes, "second", 1_000))
    yield* Effect.forkChild(note(notes, "late", 3_001))
    yield* advance("3 seconds")
    assert.deepStrictEqual(notes, ["first 1000", "second 1000", "third 2000", "fourth 2500"])
    assert.strictEqual(yield* elapsed, 3_000)
    assert.strictEqual(yield* Clock.monotonicTimeNanos, 3_000_000_000n)
  }).pipe(virtual))

it.effect("fails instead of waiting for a service that never comes to rest", () =>
  Effect.gen(function*() {
    const { advance } = yield* VirtualTime.VirtualTime
    yield* Effect.forkChild(Effect.forever(Effect.yieldNow))
    const exit = yield* Effect.exit(advance("1 second"))
    assert.isTrue(Exit.isFailure(exit) && /does not come to rest/.test(Cause.pretty(exit.cause)))
  }).pipe(Effect.provide(VirtualTime.layer(startsAt, { turnsMax: 100 }))))

it.effect("stops time during work in real time", () =>
  Effect.gen(function*() {
    const { advance, still } = yield* VirtualTime.VirtualTime
    const stilled = yield* Effect.forkChild(Effect.timeoutOption(still(realWork), "1 second"))
    const broken = yield* Effect.forkChild(Effect.exit(still(Effect.andThen(realWork, Effect.fail("broken")))))
    yield* advance("1 hour")
    assert.isTrue(Option.isSome(yield* Fiber.join(stilled)))
    assert.isTrue(Exit.isFailure(yield* Fiber.join(broken)))
    const alone = yield* Effect.forkChild(Effect.timeoutOption(realWork, "1 second"))
    yield* advance("1 hour")
    assert.isTrue(Option.isNone(yield* Fiber.join(alone)))
  }).pipe(virtual))

it.effect("serialises concurrent calls of `advance`", () =>
  Effect.gen(function*() {
    const { advance } = yield* VirtualTime.VirtualTime
    const notes: Array<string> = []
    yield* Effect.forkChild(note(notes, "one", 1_000))
    yield* Effect.forkChild(note(notes, "two", 2_000))
    yield* Effect.all([advance("1500 millis"), advance("1500 millis")], { concurrency: 2 })
    assert.deepStrictEqual(notes, ["one 1000", "two 2000"])
    assert.strictEqual(yield* elapsed, 3_000)
  }).pipe(virtual))

it.effect("handles interrupted, empty and infinite sleeps", () =>
  Effect.gen(function*() {
    const { advance } = yield* VirtualTime.VirtualTime
    const notes: Array<string> = []
    const sleeper = yield* Effect.forkChild(note(notes, "given up", 1_000))
    yield* Effect.forkChild(note(notes, "nothing", 0))
    yield* Effect.forkChild(note(notes, "ever", Infinity))
    yield* advance(1)
    yield* Fiber.interrupt(sleeper)
    yield* advance("1 day")
    assert.deepStrictEqual(notes, ["nothing 0"])
  }).pipe(virtual))

it.effect("wakes a nap once an hour and shortly before the end of a long time", () =>
  Effect.gen(function*() {
    const { advance, nap } = yield* VirtualTime.VirtualTime
    const hour = 3_600_000
    const looks: Array<number> = []
    const look = Effect.map(elapsed, (at) => looks.push(at))
    yield* Effect.forkChild(Effect.forever(Effect.andThen(nap("1 minute"), look)))
    yield* advance("2 minutes")
    assert.deepStrictEqual(looks.splice(0), [60_000, 120_000])
    yield* advance("59 seconds")
    assert.deepStrictEqual(looks.splice(0), [])
    yield* advance("3 hours")
    const first = 180_000
    assert.deepStrictEqual(looks.splice(0), [
      first,
      first + hour,
      first + 2 * hour,
      119_000 + 3 * hour,
      179_000 + 3 * hour
    ])
  }).pipe(virtual))

it.effect("does not shorten a nap of more than an hour", () =>
  Effect.gen(function*() {
    const { advance, nap } = yield* VirtualTime.VirtualTime
    const woken = yield* Effect.forkChild(Effect.andThen(nap("3 hours"), elapsed))
    yield* advance("1 day")
    assert.strictEqual(yield* Fiber.join(woken), 3 * 3_600_000)
  }).pipe(virtual))

it.effect("completes all work that takes no time during `rest`", () =>
  Effect.gen(function*() {
    const { rest } = yield* VirtualTime.VirtualTime
    const notes: Array<string> = []
    yield* Effect.forkChild(Effect.andThen(Effect.promise(async () => {}), note(notes, "now", 0)))
    yield* Effect.forkChild(note(notes, "later", 1))
    yield* rest
    assert.deepStrictEqual(notes, ["now 0"])
  }).pipe(virtual))

it.effect("is moved by TestClock, whose `withLive` is real time", () =>
  Effect.gen(function*() {
    const notes: Array<string> = []
    yield* Effect.forkChild(note(notes, "one", 1_000))
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(notes, ["one 1000"])
    yield* TestClock.setTime(startsAt + 5_000)
    assert.strictEqual(yield* elapsed, 5_000)
    assert.isBelow(yield* TestClock.withLive(elapsed), Date.UTC(2300, 0, 1) - startsAt)
    assert.notStrictEqual(yield* TestClock.withLive(elapsed), 5_000)
  }).pipe(virtual))

it.effect("cannot advance real time", () =>
  Effect.gen(function*() {
    const { advance, rest, still } = yield* VirtualTime.VirtualTime
    yield* rest
    assert.strictEqual(yield* still(Effect.succeed(1)), 1)
    assert.isTrue(Exit.hasDies(yield* Effect.exit(advance("1 second"))))
  }).pipe(Effect.provide(VirtualTime.layerReal)))

it.effect.prop(
  "wakes sleepers in the order of their times, and those of one time in the order of their arrival",
  [
    Schema.Array(Schema.Struct({ at: Schema.Literals([1, 2, 3, 4, 5]), leaves: Schema.Boolean })),
    Schema.Literals([0, 3, 5])
  ],
  ([plan, end]) =>
    Effect.sync(() => {
      const sleepers = Sleepers.make()
      const woken: Array<number> = []
      const removals = plan.map(({ at }, index) => sleepers.add({ at, wake: () => woken.push(index) }))
      plan.forEach(({ leaves }, index) => leaves && removals[index]!())
      for (let due = sleepers.takeDue(end); due !== undefined; due = sleepers.takeDue(end)) due.wake()
      const expected = plan
        .map(({ at, leaves }, index) => ({ at, index, leaves }))
        .filter(({ at, leaves }) => !leaves && at <= end)
        .toSorted((one, other) => one.at - other.at)
      assert.deepStrictEqual(woken, expected.map(({ index }) => index))
    })
)
