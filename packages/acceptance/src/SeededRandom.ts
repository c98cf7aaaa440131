/** Repeatable random choices: the same seed gives the same choices on every machine. */

/** Random choices. */
export interface SeededRandom {
  /** Returns a number from 0, inclusive, to 1, exclusive. */
  readonly next: () => number
  /** Returns an integer from `min` to `max`, both inclusive. */
  readonly int: (min: number, max: number) => number
  /** Returns `true` with this probability. */
  readonly happens: (probability: number) => boolean
  /** Returns one of the choices. There must be at least one. */
  readonly pick: <A>(choices: ReadonlyArray<A>) => A
}

/** Choices that follow from a seed, an integer. */
export const make = (seed: number): SeededRandom => {
  let state = seed >>> 0
  // mulberry32 is short, and its 2^32 states are enough for tests.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    int,
    happens: (probability) => next() < probability,
    pick: <A>(choices: ReadonlyArray<A>): A => {
      const choice = choices[int(0, choices.length - 1)]
      if (choice === undefined) throw new Error("There is nothing to choose from")
      return choice
    }
  }
}
