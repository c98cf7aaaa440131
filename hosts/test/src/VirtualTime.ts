/**
 * A clock that stands still until a test advances it, and then moves from one due
 * sleep to the next.
 *
 * Before each step the clock waits until the service is at rest: every fiber waits
 * for time, a request or a decision of the test. All work of one moment has therefore
 * ended before the next moment begins, and a test sees the same on a busy machine as
 * on an idle one.
 */
import { Clock, Context, Duration, Effect, Latch, Layer, Scheduler, Semaphore } from "effect"
import type { TestClock } from "effect/testing"
import * as Sleepers from "./internal/Sleepers.ts"

/** Advances virtual time and waits for rest. */
export class VirtualTime extends Context.Service<VirtualTime, {
  /**
   * Advances the time by this duration. Due work runs at its time and in order.
   * Returns when the service is at rest again. Concurrent calls run one after another.
   */
  readonly advance: (duration: Duration.Input) => Effect.Effect<void>

  /**
   * Sleeps between the runs of a periodic task. While one `advance` spans a long time,
   * a nap takes up to an hour instead of `duration`, because a test cannot observe the
   * time in between. The last nap of an `advance` ends at its end, or less than
   * `duration` before it.
   */
  readonly nap: (duration: Duration.Input) => Effect.Effect<void>

  /** Waits until the service is at rest: nothing more happens unless time passes. */
  readonly rest: Effect.Effect<void>

  /**
   * Runs work that takes real time, such as work on another thread. Virtual time stands
   * still until it ends, so that a slow machine does not exceed a time limit.
   */
  readonly still: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>()("@kinora/host-test/VirtualTime") {}

/** Options for `layer`. */
export interface VirtualTimeOptions {
  /** Turns of the event loop after which a busy service counts as one that never comes to rest. Default 1,000,000. */
  readonly turnsMax?: number | undefined
}

/**
 * Virtual time from `startsAt`, in Unix milliseconds, for everything that is built
 * on this layer or runs with it. `TestClock.adjust` moves it too.
 */
export const layer = (
  startsAt: number,
  { turnsMax = 1_000_000 }: VirtualTimeOptions = {}
): Layer.Layer<VirtualTime> =>
  Layer.effectContext(
    Effect.map(make(startsAt, turnsMax), ({ clock, scheduler, time }) =>
      Context.make(VirtualTime, time).pipe(
        Context.add(Clock.Clock, clock),
        Context.add(Scheduler.Scheduler, scheduler)
      ))
  )

/** Real time. `advance` dies, and `rest` returns immediately. */
export const layerReal: Layer.Layer<VirtualTime> = Layer.succeed(VirtualTime, {
  advance: () =>
    Effect.die(new Error("Time is real here and cannot be advanced: start the host without `time: \"real\"`")),
  nap: (duration) => Effect.clockWith((clock) => clock.sleep(Duration.fromInputUnsafe(duration))),
  rest: Effect.void,
  still: (work) => work
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Longest nap in milliseconds, unless its duration is longer. */
const napMax = Duration.toMillis("1 hour")

const make = Effect.fnUntraced(function*(startsAt: number, turnsMax: number) {
  const activity = makeActivity(yield* Scheduler.Scheduler, turnsMax)
  const sleepers = Sleepers.make()
  const one = Semaphore.makeUnsafe(1)
  let now = startsAt
  /** End of the current or last advance. */
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

/** Tracks activity: fibers that are about to run, and work in real time. */
const makeActivity = (parent: Scheduler.Scheduler, turnsMax: number) => {
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

  /** Promises settle between turns, so the service is at rest after a turn in which no fiber ran or was scheduled. */
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
