/** Interrupts units of work that take too long, with one timer for all of them. */
import { Clock, Duration, Effect, Exit, Fiber, Latch, type Scope } from "effect"

/** A running unit. */
interface Unit {
  /** In milliseconds since 1970. */
  readonly endsAt: number
  readonly stop: () => void
}

/** Runs a unit of work until its deadline. */
export interface UnitDeadlines {
  /**
   * Runs the effect in a fiber of its own. At the deadline, interrupts it if `mayStop` returns true, and fails with
   * `late` when it has ended.
   */
  readonly within: <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    mayStop: () => boolean,
    late: Effect.Effect<never, E>
  ) => Effect.Effect<A, E, R>
}

/** Makes a timer without units. It stops when the scope closes. */
export const make = Effect.fnUntraced(function*(
  deadline: Duration.Duration
): Effect.fn.Return<UnitDeadlines, never, Scope.Scope> {
  // The database has no test clock.
  const clock = Clock.Clock.defaultValue()
  const lifetime = Duration.toMillis(deadline)
  // All have the same deadline, so the first one to begin is the first one to end.
  const units = new Set<Unit>()
  const hasUnits = Latch.makeUnsafe(false)

  const stopLate = (now: number) => {
    for (const unit of units) {
      if (unit.endsAt > now) return unit.endsAt - now
      units.delete(unit)
      unit.stop()
    }
    return undefined
  }
  const watch = Effect.gen(function*() {
    yield* hasUnits.await
    const left = stopLate(clock.currentTimeMillisUnsafe())
    if (left === undefined) hasUnits.closeUnsafe()
    else yield* Effect.sleep(left)
  })
  yield* Effect.forkScoped(Effect.provideService(Effect.forever(watch), Clock.Clock, clock))

  const awaitUnit = <A, E>(fiber: Fiber.Fiber<A, E>, mayStop: () => boolean, late: Effect.Effect<never, E>) =>
    Effect.callback<A, E>((resume) => {
      let isStopped = false
      const unit: Unit = {
        endsAt: clock.currentTimeMillisUnsafe() + lifetime,
        stop: () => {
          if (!mayStop()) return
          isStopped = true
          fiber.interruptUnsafe()
        }
      }
      units.add(unit)
      hasUnits.openUnsafe()
      fiber.addObserver((exit) => {
        units.delete(unit)
        resume(isStopped && Exit.hasInterrupts(exit) ? late : exit)
      })
    })

  const within: UnitDeadlines["within"] = (effect, mayStop, late) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        Effect.forkDetach(effect, { startImmediately: true }),
        (fiber) => Effect.onInterrupt(restore(awaitUnit(fiber, mayStop, late)), () => Fiber.interrupt(fiber))
      )
    )
  return { within }
})
