/** What one host remembers of keys: for a short time, and not without bound. */
import { DateTime, Effect, Option } from "effect"
import type { KeyOwner } from "../AccountStore.ts"
import type { Identity } from "../Identity.ts"
import { setBounded } from "./boundedMap.ts"

/** The answer for one key, ready to be given. */
export interface Answer {
  readonly identity: Option.Option<Identity>
  /** Succeeds with `identity`; made once, so that a hit allocates nothing. */
  readonly effect: Effect.Effect<Option.Option<Identity>>
  /** When the key's last noted use was, Unix milliseconds. Moves on when a use is noted. */
  lastUsedMillis: number
}

/** The answer for what was found of a key, or for none. */
export const answerOf = (owner: KeyOwner | undefined): Answer => {
  const identity = owner === undefined
    ? Option.none<Identity>()
    : Option.some<Identity>({ account: owner.account, keyId: owner.key })
  return {
    identity,
    effect: Effect.succeed(identity),
    lastUsedMillis: Option.match(Option.fromUndefinedOr(owner).pipe(Option.flatMap((owner) => owner.lastUsedAt)), {
      onNone: () => -Infinity,
      onSome: DateTime.toEpochMillis
    })
  }
}

/** Answers by the key's hash. Times are monotonic nanoseconds. */
export interface KeyCache {
  /** The answer, unless none is remembered or it is too old. */
  readonly get: (hash: string, now: bigint) => Answer | undefined

  /**
   * To be called before the store is asked; the answers' age counts from `now`.
   * The returned function keeps an answer, unless something was forgotten in
   * between: the store may have been read before that change.
   */
  readonly startLoading: (now: bigint) => (hash: string, answer: Answer) => void

  /** Forgets the keys whose identity matches. */
  readonly forget: (matches: (identity: Identity) => boolean) => void
}

/** A cache of at most `entriesMax` keys, and as many hashes that are nobody's. */
export const make = (
  { entriesMax, maxAge }: { readonly entriesMax: number; readonly maxAge: bigint }
): KeyCache => {
  // Apart, so that made-up keys cannot drive out real ones.
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
        // The entry that was set first is the next to become too old anyway.
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
