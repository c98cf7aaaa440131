/** Chance that can be repeated: the same seed gives the same choices, on every machine. */

/** Makes choices. */
export interface Chance {
  /** At least 0 and below 1. */
  readonly next: () => number
  /** A whole number from `min` to `max`, both included. */
  readonly int: (min: number, max: number) => number
  /** `true` with this probability. */
  readonly happens: (probability: number) => boolean
  /** One of several, of which there must be one. */
  readonly pick: <A>(choices: ReadonlyArray<A>) => A
}

/** Choices that follow from a seed, a whole number. */
export const make = (seed: number): Chance => {
  let state = seed >>> 0
  // mulberry32: 2^32 states are plenty for tests, and it is short.
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
