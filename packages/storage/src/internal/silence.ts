/** Ends the calls of a store that make no progress. */
import { Clock, Duration, Effect, Fiber, Latch } from "effect"
import { BlobError, Unavailable } from "../BlobError.ts"

/** The time limit of one operation, which runs its effects one after the other. */
export interface Watch {
  /** Runs the effect, or fails when the store has made no progress for the limit. */
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | BlobError, R>
  /** Stops the time: the operation waits for its caller. */
  readonly pause: () => void
  /** Starts the time anew: the operation waits for the store. */
  readonly resume: () => void
}

/**
 * Makes a function that makes watches. They share one timer, which runs until the scope closes and only while calls are in
 * progress.
 */
export const make = Effect.fnUntraced(function*(limit: Duration.Duration) {
  const clock = yield* Clock.Clock
  /** Monotonic, in whole milliseconds. */
  const now = () => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
  const limitMillis = Duration.toMillis(limit)
  /** The calls in progress, in the order in which they began to wait. All have the same limit, so the first expires first. */
  const calls = new Set<Call>()
  const hasCalls = Latch.makeUnsafe(false)

  const observe = Effect.gen(function*() {
    yield* hasCalls.await
    const [first] = calls
    if (first === undefined) return hasCalls.closeUnsafe()
    const left = first.since + limitMillis - now()
    if (left > 0) return yield* Effect.sleep(left)
    calls.delete(first)
    const cause = new Error(`The storage has not responded for ${Duration.format(limit)}`)
    first.abandon(new BlobError({ reason: new Unavailable({ operation: `BlobStore.${first.operation}`, cause }) }))
  })
  yield* Effect.forkScoped(Effect.forever(observe))

  return (operation: string): Watch => {
    const call: Call = { operation, since: 0, abandon: () => {} }
    const pause = () => {
      calls.delete(call)
    }
    const resume = () => {
      // Last in the order.
      calls.delete(call)
      call.since = now()
      calls.add(call)
      hasCalls.openUnsafe()
    }
    return { pause, resume, run: (effect) => runCall(call, effect, limit, pause, resume) }
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Call {
  readonly operation: string
  /** When the store began to work. */
  since: number
  abandon: (error: BlobError) => void
}

const runCall = <A, E, R>(
  call: Call,
  effect: Effect.Effect<A, E, R>,
  limit: Duration.Duration,
  pause: () => void,
  resume: () => void
): Effect.Effect<A, E | BlobError, R> =>
  Effect.uninterruptibleMask((restore) => {
    resume()
    const forked = Effect.forkDetach(effect, { startImmediately: true, uninterruptible: false })
    return Effect.flatMap(forked, (fiber) => {
      const exit = fiber.pollUnsafe()
      if (exit === undefined) return restore(awaitFiber(call, fiber, limit, pause))
      pause()
      return exit
    })
  })

const awaitFiber = <A, E>(
  call: Call,
  fiber: Fiber.Fiber<A, E>,
  limit: Duration.Duration,
  pause: () => void
): Effect.Effect<A, E | BlobError> =>
  Effect.callback((done) => {
    const ignore = fiber.addObserver((exit) => {
      pause()
      done(exit)
    })
    call.abandon = (error) => {
      ignore()
      fiber.interruptUnsafe()
      done(Effect.fail(error))
    }
    return Effect.suspend(() => {
      pause()
      fiber.interruptUnsafe()
      return Effect.raceFirst(Fiber.await(fiber), Effect.sleep(limit))
    })
  })
