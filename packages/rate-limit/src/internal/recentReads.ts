/** Counters that were read a moment ago, so that a key that is read often needs few statements. */
import { Duration } from "effect"
import type { Advances } from "./advances.ts"
import type * as Counter from "./counter.ts"

/**
 * Makes an empty memory of at most `keysMax` counters, each of which is kept for `lasts` after it was read,
 * and not beyond its period. Times are of the monotonic clock, in milliseconds. Forget a key that this process changes.
 * `versionOf` is that of the advances of this process: a counter that was read before an advance was given back is not returned.
 */
export const makeRecentReads = (
  keysMax: number,
  lasts: Duration.Duration,
  versionOf: Advances["versionOf"] = () => undefined
) => {
  const lastsMillis = Duration.toMillis(lasts)
  const recent = new Map<string, Read>()
  /** The latest read of each key that has not ended. */
  const running = new Map<string, Running>()

  /** Returns the counter of a key if it was kept, with its time. */
  const get = (key: string, now: number): Counter.Current | undefined => {
    const read = recent.get(key)
    if (read === undefined) return undefined
    const { counter, sentAt, version } = read
    const at = counter.at + now - sentAt
    if (now - sentAt < lastsMillis && at < counter.endsAt && versionOf(key) === version) return { ...counter, at }
    recent.delete(key)
    return undefined
  }

  /** Begins a read. Pass the result to `keep`. */
  const begin = (key: string): Running => {
    const token = { version: versionOf(key) }
    if (lastsMillis > 0) running.set(key, token)
    return token
  }

  /** Keeps a counter, unless this process has changed it since `begin`. `sentAt` is the time of `begin`. */
  const keep = (token: Running, counter: Counter.Current, sentAt: number): void => {
    const { key } = counter
    if (running.get(key) !== token) return
    running.delete(key)
    recent.delete(key)
    // The first one is the oldest.
    const [oldest] = recent.keys()
    if (recent.size >= keysMax && oldest !== undefined) recent.delete(oldest)
    recent.set(key, { counter, sentAt, version: token.version })
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

/** A read that has not ended. */
interface Running {
  /** The version of the advance of the key when the read began. */
  readonly version: object | undefined
}

interface Read extends Running {
  readonly counter: Counter.Current
  readonly sentAt: number
}
