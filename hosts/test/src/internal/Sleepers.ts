/** Pending sleeps, in the order in which they end. */

/** A pending sleep. */
interface Sleeper {
  /** Unix milliseconds. */
  readonly at: number
  readonly wake: () => void
}

/** A queue of pending sleeps. */
interface Sleepers {
  /** Adds a sleeper after those of the same time. Returns a function that removes it if it is still pending. */
  readonly add: (sleeper: Sleeper) => () => void
  /** Removes and returns the first sleeper if its time is `end` or earlier. */
  readonly takeDue: (end: number) => Sleeper | undefined
}

/** An empty queue. */
export const make = (): Sleepers => {
  // Latest first: the next sleeper is the last element, which is removed in constant time.
  const sleepers: Array<Sleeper> = []

  /** Index of the first sleeper that wakes no later than `at`. */
  const placeOf = (at: number): number => {
    let low = 0
    let high = sleepers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (sleepers[middle]!.at > at) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    add: (sleeper) => {
      sleepers.splice(placeOf(sleeper.at), 0, sleeper)
      return () => {
        const place = sleepers.indexOf(sleeper)
        if (place !== -1) sleepers.splice(place, 1)
      }
    },
    takeDue: (end) => {
      const next = sleepers.at(-1)
      return next !== undefined && next.at <= end ? sleepers.pop() : undefined
    }
  }
}
