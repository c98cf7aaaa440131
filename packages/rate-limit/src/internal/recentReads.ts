/** Counters that were read a moment ago, so that a key that is read often needs few statements. */
import { Duration } from "effect"
import type * as Counter from "./counter.ts"

/**
 * Makes an empty memory of at most `keysMax` counters, each of which is kept for `lasts` after it was read,
 * and not beyond its period. Times are of the monotonic clock, in milliseconds. Forget a key that this process changes.
 */
export const makeRecentReads = (keysMax: number, lasts: Duration.Duration) => {
  const lastsMillis = Duration.toMillis(lasts)
  const recent = new Map<string, Read>()
  /** The latest read of each key that has not ended. */
  const running = new Map<string, object>()

  /** Returns the counter of a key if it was kept, with its time. */
  const get = (key: string, now: number): Counter.Current | undefined => {
    const read = recent.get(key)
    if (read === undefined) return undefined
    const { counter, sentAt } = read
    const at = counter.at + now - sentAt
    if (now - sentAt < lastsMillis && at < counter.endsAt) return { ...counter, at }
    recent.delete(key)
    return undefined
  }

  /** Begins a read. Pass the result to `keep`. */
  const begin = (key: string): object => {
    const token = {}
    if (lastsMillis > 0) running.set(key, token)
    return token
  }

  /** Keeps a counter, unless this process has changed it since `begin`. `sentAt` is the time of `begin`. */
  const keep = (token: object, counter: Counter.Current, sentAt: number): void => {
    const { key } = counter
    if (running.get(key) !== token) return
    running.delete(key)
    recent.delete(key)
    // The first one is the oldest.
    const [oldest] = recent.keys()
    if (recent.size >= keysMax && oldest !== undefined) recent.delete(oldest)
    recent.set(key, { counter, sentAt })
  }

  /** Forgets the counters of keys, and reads that are running. */
  const forget = (forgotten: ReadonlyArray<{ readonly key: string }>): void => {
    for (const { key } of forgotten) {
      recent.delete(key)
      running.delete(key)
    }
  }

  return { get, begin, keep, forget }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Read {
  readonly counter: Counter.Current
  readonly sentAt: number
}
