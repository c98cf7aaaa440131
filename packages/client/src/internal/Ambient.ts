/** Environment of a client: network, time and randomness. */
import type { Fetch } from "../Options.ts"

export interface Ambient {
  readonly fetch: Fetch
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Calls `wake` after that many milliseconds. Returns a function that cancels the timer. */
  readonly after: (millis: number, wake: () => void) => () => void
  /** A number from 0 to below 1. */
  readonly random: () => number
  /** Returns a new idempotency key. */
  readonly newKey: () => string
}

/** Environment of Node and browsers. */
export const make = (fetch: Fetch | undefined): Ambient => ({
  // Browsers require the global object as `this`, and tests replace the global function.
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

/** Longer timers fire at once. */
const timerMillisMax = 2 ** 31 - 1

/** 128 random bits. `randomUUID` is missing on pages without TLS. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")
