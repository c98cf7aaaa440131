/** Hits that did not fit, and wait until all processes have given back what they took in advance. */
import type * as Counter from "./counter.ts"

/** A hit that waits. */
interface Waiting {
  /** Ends the wait after its full time. */
  readonly end: () => void
  /** Ends the wait of an interrupted hit. */
  readonly interrupt: () => void
}

/**
 * Creates the waits of at most `keysMax` keys. A period of a key has one time of waiting, which ends when the first of its hits has
 * waited. Until then, as many hits may wait as its limit allows.
 */
export const makeWaits = (keysMax: number) => {
  const waits = new Map<string, Wait>()

  const waitOf = (key: string, period: number): Wait => {
    const known = waits.get(key)
    if (known !== undefined && known.period >= period) return known
    waits.delete(key)
    // The first one is the oldest.
    const [oldest] = waits.size < keysMax ? [] : waits.keys()
    if (oldest !== undefined) waits.delete(oldest)
    const wait = { period, amount: 0, hasEnded: false }
    waits.set(key, wait)
    return wait
  }

  /** Begins the wait of a take that was refused in a period. Returns `undefined` if it may not wait. */
  const begin = ({ cost, key, limit }: Counter.Take, period: number): Waiting | undefined => {
    if (cost > limit) return undefined
    const wait = waitOf(key, period)
    if (wait.hasEnded || wait.amount + cost > limit) return undefined
    wait.amount += cost
    const interrupt = () => {
      wait.amount -= cost
    }
    return {
      interrupt,
      end: () => {
        interrupt()
        wait.hasEnded = true
      }
    }
  }

  return { begin }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Wait {
  readonly period: number
  /** The costs of the hits that wait. */
  amount: number
  hasEnded: boolean
}
