/**
 * Moves the `TestClock` while other fibers work on the databases of `TestDatabase`.
 *
 * Virtual time passes only while these fibers wait for it. If a test moved the clock while a statement is in flight, a
 * slow database would let leases, time limits and jobs of upstreams expire that a fast one does not.
 */
import { Clock, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as InFlight from "./internal/inFlight.ts"

/** Options of `pass` and `until`. */
export interface StepOptions {
  /** How far the clock moves at once, which is at most the shortest time limit of the work. Default 1 second. */
  readonly step?: Duration.Input
}

/**
 * Waits until no statement is in flight and none follows within some turns of the event loop, in which fibers continue
 * after a response. Without a database it waits for these turns. Dies if that takes longer than `bound` of real time, for
 * instance because a statement waits for a lock that the test holds.
 */
export const restWithin = (bound: Duration.Input): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let sent = -1; sent !== InFlight.total() || InFlight.count() > 0;) {
      yield* InFlight.none.await
      sent = InFlight.total()
      yield* eventLoopTurns
    }
  }).pipe(
    Effect.timeoutOrElse({ duration: bound, orElse: () => Effect.die(new Error(restless())) }),
    Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
  )

/** Waits until the databases are at rest, for a minute at most. */
export const rest: Effect.Effect<void> = restWithin("1 minute")

/** Moves the clock once, between two rests. */
export const advance = (duration: Duration.Input): Effect.Effect<void> =>
  Effect.andThen(rest, Effect.andThen(TestClock.adjust(duration), rest))

/** Moves the clock in steps, so that timers that follow each other fire. */
export const pass = Effect.fnUntraced(function*(duration: Duration.Input, { step = "1 second" }: StepOptions = {}) {
  const [length, total] = [
    Duration.toMillis(Duration.fromInputUnsafe(step)),
    Duration.toMillis(Duration.fromInputUnsafe(duration))
  ]
  yield* rest
  for (let passed = 0; passed < total; passed += length) {
    yield* TestClock.adjust(Math.min(length, total - passed))
    yield* rest
  }
})

/** Moves the clock in steps until the condition holds. Dies after 1,200 steps. */
export const until = Effect.fnUntraced(function*<E, R>(
  condition: Effect.Effect<boolean, E, R>,
  { step = "1 second" }: StepOptions = {}
) {
  yield* rest
  for (let steps = 0; !(yield* condition); steps++) {
    if (steps === stepsMax) return yield* Effect.die(new Error(`The condition does not hold after ${stepsMax} steps`))
    yield* TestClock.adjust(step)
    yield* rest
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const stepsMax = 1_200

const restless = () =>
  `The databases of the test do not come to rest: ${InFlight.count()} statements are in flight. ` +
  "If the test blocks them, it has to move the TestClock itself."

/** Turns in which a fiber that got a response sends its next statement. Each handover between fibers takes one. */
const turns = 16

const eventLoopTurns = Effect.callback<void>((resume) => {
  let left = turns
  const turn = () => {
    left--
    if (left === 0) resume(Effect.void)
    else next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  return Effect.sync(() => clearImmediate(next))
})
