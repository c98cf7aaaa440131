/**
 * Time that stands still until it is told to go on, and then goes from one thing
 * that waits for it to the next.
 *
 * Before each step everything comes to rest: every fiber waits for time, for a
 * request or for somebody's decision. So what happens between two moments is over
 * before the later one begins, whatever it took the processor, and a test that runs
 * on a busy machine sees the same as on an idle one.
 */
import { Clock, Context, Duration, Effect, Latch, Layer, Scheduler, Semaphore } from "effect"
import type { TestClock } from "effect/testing"
import * as Sleepers from "./internal/Sleepers.ts"

/** Moves time, and waits for rest. */
export class VirtualTime extends Context.Service<VirtualTime, {
  /**
   * Lets this much time pass. What is due on the way happens at its moment and in
   * order; returns when everything is at rest again. Calls at the same time follow
   * one another.
   */
  readonly advance: (duration: Duration.Input) => Effect.Effect<void>

  /**
   * Sleeps for this long, for what looks from time to time whether there is something
   * to do. Of a long time that passes in one go nobody sees the middle, so there it
   * sleeps for up to an hour, but is awake once more at the end or less than this long
   * before it.
   */
  readonly nap: (duration: Duration.Input) => Effect.Effect<void>

  /** Waits until nothing more happens without time passing. */
  readonly rest: Effect.Effect<void>

  /**
   * Work that takes real time, on a thread for instance. Time stands still
   * meanwhile, or a limit would run out while the machine is merely slow.
   */
  readonly still: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>()("@kinora/host-test/VirtualTime") {}

/**
 * Virtual time from `startsAt`, in Unix milliseconds, for everything that is built
 * on this layer or runs with it. `TestClock.adjust` moves it too.
 */
export const layer = (startsAt: number): Layer.Layer<VirtualTime> =>
  Layer.effectContext(Effect.map(make(startsAt), ({ clock, scheduler, time }) =>
    Context.make(VirtualTime, time).pipe(
      Context.add(Clock.Clock, clock),
      Context.add(Scheduler.Scheduler, scheduler)
    )))

/** Real time, which cannot be moved: `advance` is a defect, `rest` waits for nothing. */
export const layerReal: Layer.Layer<VirtualTime> = Layer.succeed(VirtualTime, {
  advance: () => Effect.die(new Error("Time is real here, so nobody can advance it: start without `time: \"real\"`")),
  nap: (duration) => Effect.clockWith((clock) => clock.sleep(Duration.fromInputUnsafe(duration))),
  rest: Effect.void,
  still: (work) => work
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A service that is busy for so many turns of the event loop will be so forever. */
const turnsMax = 1_000_000

/** How long a nap is at most, unless it was to be longer. */
const napMax = Duration.toMillis("1 hour")

const make = Effect.fnUntraced(function*(startsAt: number) {
  const activity = makeActivity(yield* Scheduler.Scheduler)
  const sleepers = Sleepers.make()
  const one = Semaphore.makeUnsafe(1)
  let now = startsAt
  /** Of the time that passes, or passed last. */
  let end = startsAt

  const move = Effect.fnUntraced(function*(endOf: (now: number) => number) {
    yield* activity.rest
    end = endOf(now)
    for (let due = sleepers.takeDue(end); due !== undefined; due = sleepers.takeDue(end)) {
      now = due.at
      due.wake()
      yield* activity.rest
    }
    now = end
  }, one.withPermits(1))

  const advance = (duration: Duration.Input) =>
    move((now) => now + Duration.toMillis(Duration.fromInputUnsafe(duration)))

  const nap = (duration: Duration.Input) =>
    Effect.suspend(() => {
      const least = Duration.toMillis(Duration.fromInputUnsafe(duration))
      return clock.sleep(Duration.millis(Math.max(least, Math.min(end - now - least, napMax))))
    })

  const nanosOf = (millis: number) => BigInt(Math.round(millis * 1e6))
  const clock: TestClock.TestClock = {
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanosUnsafe: () => BigInt(Math.floor(now)) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(Math.floor(now)) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => nanosOf(now - startsAt),
    monotonicTimeNanos: Effect.sync(() => nanosOf(now - startsAt)),
    sleep: (duration) =>
      Effect.suspend(() => {
        const millis = Duration.toMillis(duration)
        if (millis <= 0) return Effect.yieldNow
        if (!Number.isFinite(millis)) return Effect.never
        return Effect.callback<void>((resume) => {
          const remove = sleepers.add({ at: now + millis, wake: () => resume(Effect.void) })
          return Effect.sync(remove)
        })
      }),
    adjust: advance,
    setTime: (timestamp) => move(() => timestamp),
    withLive: Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
  }
  const time = VirtualTime.of({ advance, nap, rest: activity.rest, still: activity.still })
  return { clock, scheduler: activity.scheduler, time }
})

/** Knows whether something happens: a fiber that is about to run, or work on a thread. */
const makeActivity = (parent: Scheduler.Scheduler) => {
  const noWork = Latch.makeUnsafe(true)
  let works = 0
  let tasks = 0
  let scheduled = 0

  const scheduler: Scheduler.Scheduler = {
    executionMode: parent.executionMode,
    shouldYield: (fiber) => parent.shouldYield(fiber),
    makeDispatcher: () => {
      const dispatcher = parent.makeDispatcher()
      return {
        scheduleTask: (task, priority) => {
          tasks++
          scheduled++
          dispatcher.scheduleTask(() => {
            try {
              task()
            } finally {
              tasks--
            }
          }, priority)
        },
        flush: () => dispatcher.flush()
      }
    }
  }

  /** Promises go on between turns, so a turn in which no fiber ran and none is about to was quiet. */
  const rest = Effect.gen(function*() {
    for (let turn = 0; turn < turnsMax; turn++) {
      yield* noWork.await
      const before = scheduled
      yield* eventLoopTurn
      if (tasks === 0 && works === 0 && scheduled === before) return
    }
    return yield* Effect.die(new Error("The service does not come to rest"))
  })

  const begin = Effect.sync(() => {
    works++
    noWork.closeUnsafe()
  })
  const end = Effect.sync(() => {
    works--
    if (works === 0) noWork.openUnsafe()
  })
  const still = <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.acquireUseRelease(begin, () => work, () => end)

  return { scheduler, rest, still }
}

const eventLoopTurn = Effect.callback<void>((resume) => {
  const turn = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(turn))
})
