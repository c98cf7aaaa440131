/** Places that this process keeps for a while after they were given back, so that the next request needs no statement. */
import { Clock, Duration, Effect, Latch } from "effect"
import type { Granted } from "./lease.ts"
import { monotonicMillis } from "./monotonic.ts"

/** A place that nobody uses. */
interface KeptPlace {
  readonly place: Granted
  /** The time of the monotonic clock at which the place is released. */
  readonly until: number
}

/** The shortest time between two releases of kept places. */
const interval = Duration.millis(250)

/**
 * Creates an empty set of kept places. `release` releases those whose time is over. When the scope closes, all
 * are released.
 */
export const makeKeptPlaces = Effect.fnUntraced(function*(
  release: (places: ReadonlyArray<Granted>) => Effect.Effect<void>
) {
  const placesByKey = new Map<string, Array<KeptPlace>>()
  const isKeeping = Latch.makeUnsafe(false)

  /** Removes and returns the places that `isOver` selects. */
  const remove = (isOver: (kept: KeptPlace) => boolean): ReadonlyArray<Granted> => {
    const over: Array<Granted> = []
    for (const [key, kept] of placesByKey) {
      const rest = kept.filter((one) => !isOver(one))
      for (const one of kept) if (isOver(one)) over.push(one.place)
      if (rest.length === 0) placesByKey.delete(key)
      else placesByKey.set(key, rest)
    }
    if (placesByKey.size === 0) isKeeping.closeUnsafe()
    return over
  }

  const releaseOver = Effect.flatMap(Clock.Clock, (clock) => {
    const now = monotonicMillis(clock)
    const over = remove(({ until }) => until <= now)
    return over.length === 0 ? Effect.void : release(over)
  })

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      const rest = remove(() => true)
      return rest.length === 0 ? Effect.void : release(rest)
    })
  )
  // In a fiber of the layer, whose services are those of no transaction.
  yield* isKeeping.await.pipe(
    Effect.andThen(Effect.sleep(interval)),
    Effect.andThen(releaseOver),
    Effect.forever,
    Effect.forkScoped
  )

  /** Keeps a place. */
  const keep = (place: Granted, keepFor: Duration.Duration, clock: Clock.Clock): void => {
    const kept = { place, until: monotonicMillis(clock) + Duration.toMillis(keepFor) }
    placesByKey.set(place.key, [...placesByKey.get(place.key) ?? [], kept])
    isKeeping.openUnsafe()
  }

  /** Returns a kept place that is one of the first `max` of its key, and keeps it no longer. */
  const takeBack = (key: string, max: number): Granted | undefined => {
    const kept = placesByKey.get(key)
    const index = kept?.findLastIndex(({ place }) => place.held <= max) ?? -1
    if (kept === undefined || index < 0) return undefined
    const [found] = kept.splice(index, 1)
    if (kept.length === 0) placesByKey.delete(key)
    return found?.place
  }

  /** Returns the number of kept places of a key. */
  const countOf = (key: string): number => placesByKey.get(key)?.length ?? 0

  return { countOf, keep, takeBack }
})
