/** Places delayed jobs in their lanes when they are due. */
import { Duration, Effect, Option, Random } from "effect"
import { Scheduler } from "../../Scheduler.ts"
import { Wakeup } from "../../Wakeup.ts"
import * as KindName from "../kindName.ts"
import { logFailure, type Settings } from "./settings.ts"
import type { WorkerParts } from "./workerParts.ts"

/**
 * Creates the loop. It sleeps until the next job is due. A wake-up may announce a job that is due earlier, and a poll finds
 * it if the wake-up was lost. Every worker places the jobs of all kinds.
 */
export const makeDelayLoop = Effect.fnUntraced(function*(settings: Settings, { lease }: Pick<WorkerParts, "lease">) {
  const scheduler = yield* Scheduler
  const wakeup = yield* (yield* Wakeup).subscribeTo([KindName.delayed])

  /** Returns the time until the next job is due. */
  const look = Effect.gen(function*() {
    wakeup.closeUnsafe()
    // Checked first, since usually no job is due.
    const next = yield* scheduler.dueIn
    if (!Option.exists(next, Duration.isZero)) return next
    while ((yield* scheduler.enqueueDue(settings.claimMax)) === settings.claimMax);
    return yield* scheduler.dueIn
  }).pipe(logFailure("Placing delayed jobs failed", Option.none<Duration.Duration>()))

  return Effect.gen(function*() {
    yield* lease.isHeld
    const found = Option.getOrElse(yield* look, () => settings.pollInterval)
    // Jobs that are due still have locked lanes.
    const next = Duration.isZero(found) ? pause : found
    // Spread, so that several workers do not wait for each other at the same lanes.
    const spread = Duration.millis(yield* Random.nextBetween(0, spreadMax))
    const left = Duration.min(Duration.sum(next, spread), settings.pollInterval)
    yield* Effect.sleep(Duration.min(left, pause))
    const rest = Duration.subtract(left, pause)
    if (Duration.isPositive(rest)) yield* Effect.timeoutOption(wakeup.await, rest)
  }).pipe(Effect.forever)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Minimum time between checks, since most wake-ups announce jobs that are due later. */
const pause = Duration.millis(100)

/** Maximum random delay of the next check, in milliseconds. */
const spreadMax = 50
