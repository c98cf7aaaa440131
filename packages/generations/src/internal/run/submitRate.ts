/** The number of submits per minute. */
import { Clock, Effect } from "effect"

/** Makes a limit of `perMinute` submits within any minute. */
export const makeRate = (perMinute: number) => {
  /** Times of the submits of the last minute, oldest first. */
  const times: Array<number> = []
  const prune = (now: number) => {
    while (times.length > 0 && times[0]! <= now - minute) times.shift()
  }

  return {
    /** Returns how many submits are possible now. */
    left: Effect.map(Clock.currentTimeMillis, (now) => {
      prune(now)
      return perMinute - times.length
    }),

    /** Counts a submit. Waits until one is possible. */
    take: Effect.gen(function*() {
      if (perMinute === Infinity) return
      while (true) {
        const now = yield* Clock.currentTimeMillis
        prune(now)
        if (times.length < perMinute) break
        yield* Effect.sleep(times[0]! + minute - now)
      }
      times.push(yield* Clock.currentTimeMillis)
    })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const minute = 60_000
