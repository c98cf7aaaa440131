/** Caches the identities of keys for a short time. */
import { DateTime, Effect, Option } from "effect"
import type { KeyOwner } from "../AccountStore.ts"
import type { Identity } from "../Identity.ts"
import { setBounded } from "./boundedMap.ts"

/** The cached result for one key. */
export interface Answer {
  readonly identity: Option.Option<Identity>
  /** Succeeds with `identity`. Created once, so that a hit allocates nothing. */
  readonly effect: Effect.Effect<Option.Option<Identity>>
  /** Time of the last recorded use in Unix milliseconds. Updated when a use is recorded. */
  lastUsedMillis: number
}

/** Creates the result for the owner of a key, or for an unknown key. */
export const answerOf = (owner: KeyOwner | undefined): Answer => {
  const identity = owner === undefined
    ? Option.none<Identity>()
    : Option.some<Identity>({
      account: owner.account,
      keyId: owner.key,
      terms: owner.terms,
      ...Option.isSome(owner.budgetLine) && { budgetLine: owner.budgetLine.value }
    })
  return {
    identity,
    effect: Effect.succeed(identity),
    lastUsedMillis: Option.match(Option.fromUndefinedOr(owner).pipe(Option.flatMap((owner) => owner.lastUsedAt)), {
      onNone: () => -Infinity,
      onSome: DateTime.toEpochMillis
    })
  }
}

/** Cached results by the hash of the key. Times are monotonic nanoseconds. */
export interface KeyCache {
  /** Returns the cached result unless it is too old. */
  readonly get: (hash: string, now: bigint) => Answer | undefined

  /**
   * Call it before reading the store; the age of the results counts from `now`. The
   * returned function caches a result, unless `forget` was called in between, since the
   * store may have been read before that change.
   */
  readonly startLoading: (now: bigint) => (hash: string, answer: Answer) => void

  /** Removes the keys whose identity matches. */
  readonly forget: (matches: (identity: Identity) => boolean) => void
}

/** Creates a cache of at most `entriesMax` keys and as many unknown hashes. */
export const make = (
  { entriesMax, maxAge }: { readonly entriesMax: number; readonly maxAge: bigint }
): KeyCache => {
  // Separate maps, so that invented keys cannot evict real ones.
  const known = new Map<string, Entry>()
  const unknown = new Map<string, Entry>()
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
        const isKnown = Option.isSome(answer.identity)
        ;(isKnown ? unknown : known).delete(hash)
        // The oldest entry expires next anyway.
        setBounded(isKnown ? known : unknown, entriesMax, hash, { answer, loadedAt: now })
      }
    },
    forget: (matches) => {
      changes++
      for (const [hash, { answer }] of known) {
        if (Option.exists(answer.identity, matches)) known.delete(hash)
      }
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Entry {
  readonly answer: Answer
  readonly loadedAt: bigint
}
