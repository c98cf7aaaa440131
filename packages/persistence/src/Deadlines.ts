/** Time limits for effects, with one timer for all of them. */
import { Clock, type Context, Duration, Effect, Exit, Fiber, Latch, type Scope } from "effect"

/** Runs effects until a deadline. */
export interface Deadlines {
  /**
   * Runs an effect in a fiber of its own. At the deadline, interrupts it, and continues with `late` when it has ended.
   * `mayStop` is called at the deadline; if it returns false, the effect runs without a limit. It returns true by default.
   */
  readonly within: <A, E, R, B, E2, R2>(
    effect: Effect.Effect<A, E, R>,
    late: Effect.Effect<B, E2, R2>,
    mayStop?: () => boolean
  ) => Effect.Effect<A | B, E | E2, R | R2>
}

/**
 * Makes deadlines that are `limit` after the start of an effect, on the clock of the fiber that calls `make`.
 * `Effect.timeoutOrElse` forks two fibers for each effect and sets a timer, which costs several times as much.
 *
 * When the scope closes, the timer stops, and effects that still run have no limit. The timer is not cleared when the last
 * effect ends, so it keeps a process alive for at most `limit` while the scope is open.
 */
export const make = Effect.fnUntraced(function*(
  limit: Duration.Input
): Effect.fn.Return<Deadlines, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const limitMillis = Duration.toMillis(Duration.fromInputUnsafe(limit))
  const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
  // All have the same limit, so they are in the order of their deadlines.
  const running = new Set<Running>()
  const hasRunning = Latch.makeUnsafe(false)

  /** Returns the milliseconds until the next deadline, rounded up. */
  const stopLate = (at: number) => {
    for (const one of running) {
      if (one.endsAt > at) return Math.ceil(one.endsAt - at)
      running.delete(one)
      one.stop()
    }
    return undefined
  }
  const watch = Effect.gen(function*() {
    yield* hasRunning.await
    const left = stopLate(now())
    if (left === undefined) hasRunning.closeUnsafe()
    else yield* Effect.sleep(left)
  }).pipe(
    // A defect of one effect must not end the timer of the others.
    Effect.catchDefect((defect) => Effect.logError("Failed to end an effect at its deadline", defect))
  )
  yield* Effect.forkScoped(Effect.forever(watch))

  const within: Deadlines["within"] = <A, E, R, B, E2, R2>(
    effect: Effect.Effect<A, E, R>,
    late: Effect.Effect<B, E2, R2>,
    mayStop = () => true
  ) =>
    Effect.contextWith((context: Context.Context<R | R2>) =>
      Effect.callback<A | B, E | E2, R | R2>((resume) => {
        const fiber = Effect.runForkWith(context)(effect)
        const exit = fiber.pollUnsafe()
        if (exit !== undefined) return resume(exit)
        let isStopped = false
        const one: Running = {
          endsAt: now() + limitMillis,
          stop: () => {
            if (!mayStop()) return
            isStopped = true
            fiber.interruptUnsafe()
          }
        }
        running.add(one)
        hasRunning.openUnsafe()
        fiber.addObserver((exit) => {
          running.delete(one)
          resume(isStopped && Exit.hasInterrupts(exit) ? late : exit)
        })
        return Fiber.interrupt(fiber)
      })
    )
  return { within }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A running effect. */
interface Running {
  /** On the monotonic clock, in milliseconds. */
  readonly endsAt: number
  readonly stop: () => void
}
