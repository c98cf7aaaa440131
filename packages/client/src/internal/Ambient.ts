/** What a client takes from the platform: a network, time, and chance. */
import type { Fetch } from "../Options.ts"

/** See each member. */
export interface Ambient {
  readonly fetch: Fetch
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number
  /** Calls `wake` after that many milliseconds, unless what it answers with is called before. */
  readonly after: (millis: number, wake: () => void) => () => void
  /** A number from 0 to below 1. */
  readonly random: () => number
  /** A name that nothing else has. */
  readonly newKey: () => string
}

/** What Node and browsers have. */
export const make = (fetch: Fetch | undefined): Ambient => ({
  // Not by reference: browsers want it called on the global object, and tests replace it.
  fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
  now: () => performance.now(),
  after: (millis, wake) => {
    const timer = setTimeout(wake, Math.min(Math.ceil(millis), timerMillisMax))
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
  newKey
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A longer timer would fire at once. */
const timerMillisMax = 2 ** 31 - 1

/** 128 random bits. `randomUUID` is missing on pages without TLS. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")
