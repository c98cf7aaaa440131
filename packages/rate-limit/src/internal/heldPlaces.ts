/** Renews the places that this process holds. */
import * as Periodic from "@kinora/persistence/Periodic"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Duration, Effect, Semaphore } from "effect"
import { RateLimitStore } from "../RateLimitStore.ts"
import type { Place } from "./lease.ts"

/**
 * Renews held places three times per `lease` until the scope closes. A process without
 * places runs no statements.
 */
export const makeHeldPlaces = Effect.fnUntraced(function*(lease: Duration.Duration) {
  const store = yield* RateLimitStore
  const { afterCommit, isOpen } = yield* UnitOfWork
  const places = new Map<string, Place>()
  /** Number of places by key. */
  const counts = new Map<string, number>()
  const released = new WeakSet<Place>()
  // Separates renewals from releases, because a renewal stores a missing lease again.
  const writing = Semaphore.makeUnsafe(1)

  const renew = Effect.gen(function*() {
    const renewed = Array.from(places.values())
    yield* store.renew(renewed, lease)
    // A release inside a transaction does not wait for this renewal, which can write the released lease again.
    const late = renewed.filter((place) => released.has(place))
    if (late.length > 0) yield* store.release(late)
  }).pipe(
    writing.withPermits(1),
    Effect.catchCause((cause) => Effect.logWarning("Renewing places failed", cause)),
    Effect.withSpan("Places.renew")
  )

  const renewals = yield* Periodic.make({
    every: Duration.divideUnsafe(lease, 3),
    isIdle: () => places.size === 0,
    run: renew
  })

  /** Returns the number of places of a key that this process renews. */
  const countOf = (key: string): number => counts.get(key) ?? 0

  /** Starts to renew a place, after the open transaction has committed: one that rolls back takes the place back. */
  const hold = (place: Place): Effect.Effect<void> =>
    afterCommit(Effect.sync(() => {
      if (released.has(place)) return
      places.set(place.id, place)
      change(counts, place.key, 1)
      renewals.start()
    }))

  /** Stops to renew a place. */
  const drop = (place: Place): void => {
    released.add(place)
    if (places.delete(place.id)) change(counts, place.key, -1)
  }

  /**
   * Deletes leases. Inside a transaction it must not wait for a renewal, which may itself
   * wait for the connection of the transaction.
   */
  const release = (places: ReadonlyArray<Place>) =>
    Effect.flatMap(isOpen, (open) => open ? store.release(places) : writing.withPermits(1)(store.release(places)))

  /** Whether this process renews a place. One whose transaction rolled back was never taken. */
  const isHeld = ({ id }: Place): boolean => places.has(id)

  return { countOf, hold, drop, isHeld, release }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const change = (counts: Map<string, number>, key: string, by: 1 | -1): void => {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
