import { assert, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Queue } from "effect"
import { TestClock } from "effect/testing"
import * as ProcessGroup from "../src/internal/processes/processGroup.ts"

const readyOf = (index: number): ProcessGroup.ReadyMember => ({
  page: `page ${index}`,
  json: { index },
  pid: index + 10
})
const stopped: ProcessGroup.End = { code: 0, signal: null }
const crash: ProcessGroup.End = { code: null, signal: "SIGSEGV" }

/** A process of the test. */
interface Fake {
  readonly index: number
  readonly ready: Deferred.Deferred<ProcessGroup.ReadyMember>
  readonly ended: Deferred.Deferred<ProcessGroup.End>
  readonly signals: Array<string>
}

/** Runs a group of processes that the test ends. `onTerm` is how they end after `SIGTERM`; `undefined` if they hang. */
const runGroup = Effect.fnUntraced(function*(
  count: number,
  onTerm: ProcessGroup.End | undefined
) {
  const forked = yield* Queue.unbounded<Fake>()
  const announced = yield* Deferred.make<ReadonlyArray<ProcessGroup.ReadyMember>>()
  let failedStops = 0
  const fiber = yield* Effect.forkChild(ProcessGroup.run({
    count,
    stopTime: Duration.seconds(40),
    onReady: (all) => Effect.asVoid(Deferred.succeed(announced, all)),
    onFailedStop: Effect.sync(() => failedStops++),
    fork: Effect.fnUntraced(function*(index) {
      const ready = yield* Deferred.make<ProcessGroup.ReadyMember>()
      const ended = yield* Deferred.make<ProcessGroup.End>()
      const signals: Array<string> = []
      yield* Queue.offer(forked, { index, ready, ended, signals })
      return {
        ready: Deferred.await(ready),
        ended: Deferred.await(ended),
        kill: (signal) => {
          signals.push(signal)
          const end = signal === "SIGKILL" ? { code: null, signal } : onTerm
          return end === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(ended, end))
        }
      }
    })
  }))
  const next = Queue.take(forked)
  const becomeReady = (fake: Fake) => Deferred.succeed(fake.ready, readyOf(fake.index))
  /** Starts all processes. */
  const startAll = Effect.gen(function*() {
    const first = yield* next
    yield* becomeReady(first)
    const others = yield* Effect.replicateEffect(next, count - 1)
    yield* Effect.forEach(others, becomeReady)
    yield* Deferred.await(announced)
    return [first, ...others] as const
  })
  return { fiber, forked, next, becomeReady, announced, startAll, failedStops: () => failedStops }
})

/** The pause before the next process starts. */
const pauseOf = Effect.fnUntraced(function*({ forked }: Effect.Success<ReturnType<typeof runGroup>>) {
  let seconds = 0
  while ((yield* Queue.size(forked)) === 0) {
    yield* TestClock.adjust("1 second")
    seconds++
  }
  return seconds
})

it.effect("starts the first process alone, then the others, and announces them together", () =>
  Effect.gen(function*() {
    const { announced, becomeReady, forked, next } = yield* runGroup(3, stopped)
    const first = yield* next
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual([first.index, yield* Queue.size(forked)], [0, 0])
    yield* becomeReady(first)
    const others = [yield* next, yield* next]
    yield* becomeReady(others[1]!)
    assert.isFalse(yield* Deferred.isDone(announced))
    yield* becomeReady(others[0]!)
    assert.deepStrictEqual(yield* Deferred.await(announced), [0, 1, 2].map(readyOf))
  }))

it.effect("fails and stops the others if a process ends before it is ready", () =>
  Effect.gen(function*() {
    const { becomeReady, failedStops, fiber, next } = yield* runGroup(2, stopped)
    const first = yield* next
    yield* becomeReady(first)
    const second = yield* next
    yield* Deferred.succeed(second.ended, { code: 1, signal: null })
    const error = yield* Effect.flip(Fiber.join(fiber))
    assert.strictEqual(error.message, "Process 2 did not start: it ended with code 1")
    assert.deepStrictEqual([first.signals, second.signals, failedStops()], [["SIGTERM"], [], 0])
  }))

it.effect("replaces a process at once if it has lived for a minute, otherwise after pauses that double", () =>
  Effect.gen(function*() {
    const group = yield* runGroup(2, stopped)
    const [first, second] = yield* group.startAll
    yield* TestClock.adjust("1 minute")
    yield* Deferred.succeed(second!.ended, crash)
    let fake = yield* group.next
    assert.strictEqual(fake.index, 1)
    const pauses: Array<number> = []
    for (let n = 0; n < 7; n++) {
      yield* Deferred.succeed(fake.ended, crash)
      pauses.push(yield* pauseOf(group))
      fake = yield* group.next
      yield* group.becomeReady(fake)
    }
    assert.deepStrictEqual(pauses, [1, 2, 4, 8, 16, 30, 30])
    // A process that has lived for a minute begins anew.
    yield* TestClock.adjust("1 minute")
    yield* Deferred.succeed(fake.ended, crash)
    fake = yield* group.next
    yield* Deferred.succeed(fake.ended, crash)
    assert.strictEqual(yield* pauseOf(group), 1)
    assert.deepStrictEqual(first.signals, [])
  }))

it.effect("fails if a process ends ten times in a row within a minute", () =>
  Effect.gen(function*() {
    const group = yield* runGroup(2, stopped)
    const [first, second] = yield* group.startAll
    let fake = second!
    for (let n = 0; n < 9; n++) {
      yield* Deferred.succeed(fake.ended, crash)
      yield* pauseOf(group)
      fake = yield* group.next
    }
    yield* Deferred.succeed(fake.ended, crash)
    const error = yield* Effect.flip(Fiber.join(group.fiber))
    assert.strictEqual(error._tag, "MemberLost")
    assert.include(error.message, "was killed by SIGSEGV")
    assert.deepStrictEqual(first.signals, ["SIGTERM"])
  }))

it.effect("stops all processes at the same time, and kills those that hang", () =>
  Effect.gen(function*() {
    const hanging = yield* runGroup(2, undefined)
    const all = yield* hanging.startAll
    const stopping = yield* Effect.forkChild(Fiber.interrupt(hanging.fiber))
    yield* TestClock.adjust("39 seconds")
    assert.deepStrictEqual(all.map(({ signals }) => signals), [["SIGTERM"], ["SIGTERM"]])
    assert.isUndefined(stopping.pollUnsafe())
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(stopping)
    assert.deepStrictEqual(all.map(({ signals }) => signals), [["SIGTERM", "SIGKILL"], ["SIGTERM", "SIGKILL"]])
    assert.strictEqual(hanging.failedStops(), 2)

    const willing = yield* runGroup(2, stopped)
    yield* willing.startAll
    yield* Fiber.interrupt(willing.fiber)
    assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(willing.fiber)))
    assert.strictEqual(willing.failedStops(), 0)
  }))
