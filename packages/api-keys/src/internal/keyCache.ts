/** Caches the results of look-ups for a short time. */
import { DateTime, Effect, Option } from "effect"
import type { KeyId } from "../ApiKey.ts"
import { setBounded } from "./boundedMap.ts"

/** A key that was found. */
export interface FoundKey<A> {
  readonly hash: string
  readonly key: KeyId
  readonly lastUsedAt: Option.Option<DateTime.Utc>
  /** The result of `verify`. */
  readonly value: A
}

/** The cached result for one key. */
export interface Answer<A> {
  readonly key: KeyId | undefined
  readonly value: Option.Option<A>
  /** Succeeds with `value`. Created once, so that a hit allocates nothing. */
  readonly effect: Effect.Effect<Option.Option<A>>
  /** Time of the last recorded use in Unix milliseconds. Updated when a use is recorded. */
  lastUsedMillis: number
}

/** Creates the result for a key that was found, or for an unknown one. */
export const answerOf = <A>(found: FoundKey<A> | undefined): Answer<A> => {
  const value = found === undefined ? Option.none<A>() : Option.some(found.value)
  return {
    key: found?.key,
    value,
    effect: Effect.succeed(value),
    lastUsedMillis: found === undefined || Option.isNone(found.lastUsedAt)
      ? -Infinity
      : DateTime.toEpochMillis(found.lastUsedAt.value)
  }
}

/** Cached results by the hash of the key. Times are monotonic nanoseconds. */
export interface KeyCache<A> {
  /** Returns the cached result unless it is too old. */
  readonly get: (hash: string, now: bigint) => Answer<A> | undefined

  /**
   * Call it before reading the store; the age of the results counts from `now`. The
   * returned function caches a result, unless `evict` was called in between, since the
   * store may have been read before that change.
   */
  readonly startLoading: (now: bigint) => (hash: string, answer: Answer<A>) => void

  /** Removes the keys whose value matches. */
  readonly evict: (matches: (value: A) => boolean) => void
}

/** Creates a cache of at most `entriesMax` keys and as many unknown hashes. */
export const make = <A>(
  { entriesMax, maxAge }: { readonly entriesMax: number; readonly maxAge: bigint }
): KeyCache<A> => {
  // Separate maps, so that invented keys cannot evict real ones.
  const known = new Map<string, Entry<A>>()
  const unknown = new Map<string, Entry<A>>()
  let changes = 0

  return {
    get: (hash, now) => {
      const entry = known.get(hash) ?? unknown.get(hash)
      return entry !== undefined && now - entry.loadedAt < maxAge ? entry.answer : undefined
    },
    startLoading: (now) => {
      const changesBefore = changes
      return (hash, answer) => {
        if (changes !== changesBefore) return
        const isKnown = Option.isSome(answer.value)
        ;(isKnown ? unknown : known).delete(hash)
        // The oldest entry expires next anyway.
        setBounded(isKnown ? known : unknown, entriesMax, hash, { answer, loadedAt: now })
      }
    },
    evict: (matches) => {
      changes++
      for (const [hash, { answer }] of known) {
        if (Option.exists(answer.value, matches)) known.delete(hash)
      }
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Entry<A> {
  readonly answer: Answer<A>
  readonly loadedAt: bigint
}
