/** Limits concurrent work and serves its owners in turn. */
import { Effect, PartitionedSemaphore, Scheduler, Semaphore } from "effect"

/** Runs an effect of an owner when it is its turn. An interrupted effect gives its place back immediately. */
export type Turns = (owner: string) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Options for `make`. */
export interface TurnsOptions {
  /** Maximum number of effects at the same time. */
  readonly max: number
  /** Maximum number of effects of one owner at the same time. Default: half of `max`, at least 1. */
  readonly ownMax?: number | undefined
}

/**
 * Makes a function that limits concurrent effects. Waiting effects start round robin over
 * their owners. An owner never has more than `ownMax` places, so with a `max` of 2 or more
 * an owner with much work leaves a place to the others.
 */
export const make = ({ max, ownMax = Math.ceil(max / 2) }: TurnsOptions): Turns => {
  const places = PartitionedSemaphore.makeUnsafe<string>({ permits: max })
  const owners = new Map<string, Owner>()

  const enter = (id: string): Owner => {
    const owner = owners.get(id) ?? { places: Semaphore.makeUnsafe(ownMax), effects: 0 }
    owners.set(id, owner)
    owner.effects++
    return owner
  }
  const leave = (id: string, owner: Owner) => {
    if (--owner.effects === 0) owners.delete(id)
  }

  return (id) => (work) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const owner = enter(id)
        return restore(work).pipe(
          holding(restore(places.take(id, 1)), places.release(1)),
          holding(restore(owner.places.take(1)), owner.places.release(1)),
          Effect.ensuring(Effect.sync(() => leave(id, owner)))
        )
      })
    )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Owner {
  readonly places: Semaphore.Semaphore
  /** Number of its effects that wait or run. */
  effects: number
}

/**
 * Runs an effect between `take` and `release`. The `withPermit` of a semaphore leaks the permit of a fiber that yields
 * right after it took the permit and is interrupted then (Effect-TS/effect#8391). Without that yield, a fiber can only
 * be interrupted while it waits.
 */
const holding =
  (take: Effect.Effect<unknown>, release: Effect.Effect<unknown>) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(take, Scheduler.PreventSchedulerYield, true).pipe(
      Effect.andThen(Effect.ensuring(work, release))
    )
