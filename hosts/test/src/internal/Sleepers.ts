/** Those who wait for a moment, in the order in which they wake. */

/** One who waits. */
interface Sleeper {
  /** Unix milliseconds. */
  readonly at: number
  readonly wake: () => void
}

/** All who wait. */
interface Sleepers {
  /** Adds one, behind those of the same moment. Answers with what removes it again, if it is still there. */
  readonly add: (sleeper: Sleeper) => () => void
  /** Takes the first, if its moment is `end` or before. */
  readonly takeDue: (end: number) => Sleeper | undefined
}

/** Nobody yet. */
export const make = (): Sleepers => {
  // The next to wake is the last, where it is taken for free.
  const sleepers: Array<Sleeper> = []

  /** The first place whose sleeper wakes no later than `at`. */
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
