/** Places that this process keeps after their scope closed, so that its next request runs no statement. */
import * as Periodic from "@kinora/persistence/Periodic"
import { Clock, Duration, Effect } from "effect"
import type { Place } from "./lease.ts"
import { monotonicMillis } from "./monotonic.ts"

/** An unused place, and the time of the monotonic clock at which it became unused. */
interface KeptPlace {
  readonly place: Place
  readonly since: number
}

/**
 * Creates an empty set of kept places. `release` releases those that were kept for `lasts`, at the latest after twice that
 * time, and all when the scope closes.
 */
export const makeKeptPlaces = Effect.fnUntraced(function*(
  lasts: Duration.Duration,
  release: (places: ReadonlyArray<Place>) => Effect.Effect<void>
) {
  const placesByKey = new Map<string, Array<KeptPlace>>()

  /** Removes and returns the places that have been kept since this time or longer. */
  const removeUntil = (time: number): ReadonlyArray<Place> => {
    const removed: Array<Place> = []
    for (const [key, kept] of placesByKey) {
      // The oldest come first.
      const count = kept.findLastIndex(({ since }) => since <= time) + 1
      for (const { place } of kept.splice(0, count)) removed.push(place)
      if (kept.length === 0) placesByKey.delete(key)
    }
    return removed
  }

  const releaseUntil = (time: number) =>
    Effect.suspend(() => {
      const places = removeUntil(time)
      return places.length === 0 ? Effect.void : Effect.uninterruptible(release(places))
    })

  let isStopped = false
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isStopped = true
      return releaseUntil(Infinity)
    })
  )
  const releases = yield* Periodic.make({
    every: lasts,
    isIdle: () => placesByKey.size === 0,
    run: Effect.flatMap(Clock.Clock, (clock) => releaseUntil(monotonicMillis(clock) - Duration.toMillis(lasts)))
  })

  /** Keeps a place. */
  const keep = (place: Place): Effect.Effect<void> =>
    isStopped ? release([place]) : Effect.map(Clock.Clock, (clock) => {
      const kept = placesByKey.get(place.key)
      const one = { place, since: monotonicMillis(clock) }
      if (kept === undefined) placesByKey.set(place.key, [one])
      else kept.push(one)
      releases.start()
    })

  /** Removes and returns the place of a key that was kept last, unless it is due: its lease may have ended. */
  const takeBack = (key: string): Effect.Effect<Place | undefined> =>
    Effect.map(Clock.Clock, (clock) => {
      const kept = placesByKey.get(key)
      const last = kept?.at(-1)
      if (kept === undefined || last === undefined) return undefined
      if (monotonicMillis(clock) - last.since > 2 * Duration.toMillis(lasts)) return undefined
      kept.pop()
      if (kept.length === 0) placesByKey.delete(key)
      return last.place
    })

  /** Returns the number of kept places of a key. */
  const countOf = (key: string): number => placesByKey.get(key)?.length ?? 0

  return { countOf, keep, takeBack }
})
