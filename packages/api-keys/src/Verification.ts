/**
 * Verifies keys, mostly from a cache, and records their uses.
 *
 * `ApiKeys` verifies the keys of its store. A package that reads more with each key, such as the account of its owner in the same
 * statement, makes a verification of its own.
 */
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Clock, Context, Duration, Effect, type Option, Redacted, type Scope } from "effect"
import type { KeyUse } from "./ApiKeyStore.ts"
import * as KeyCache from "./internal/keyCache.ts"
import * as KeyUses from "./internal/keyUses.ts"
import * as Token from "./internal/token.ts"

export type { FoundKey } from "./internal/keyCache.ts"

/** The times and sizes of a verification. */
export interface VerificationLimits {
  /** Maximum age of a cached key. Default 5 seconds. */
  readonly revocationWithin?: Duration.Input | undefined
  /** Maximum number of cached keys, and of cached unknown keys. Default 10,000. */
  readonly keysCachedMax?: number | undefined
  /** How long uses of keys are collected before they are recorded. Default 10 seconds. */
  readonly usesWrittenWithin?: Duration.Input | undefined
}

/** Options for `make`. */
export interface VerificationOptions<A> extends VerificationLimits {
  /** The text that all keys begin with. */
  readonly prefix: string
  /** Returns the keys with these hashes that are not revoked, in any order, in one statement. */
  readonly find: (hashes: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<KeyCache.FoundKey<A>>, StorageError>
  /** See `ApiKeyStore`. */
  readonly noteUses: (uses: ReadonlyArray<KeyUse>) => Effect.Effect<void, StorageError>
}

/** Verifies keys. */
export interface Verification<A> {
  /**
   * Returns the value of a key, or `None` if the key is malformed, unknown or revoked. Does not check its terms.
   *
   * A malformed key costs no look-up, and a key that was verified within `revocationWithin` no statement. Concurrent
   * look-ups share a statement. The use of a key is recorded in the background, about once a minute; a use that cannot be
   * recorded is dropped. What is read inside an open unit is not cached.
   */
  readonly verify: (key: Redacted.Redacted) => Effect.Effect<Option.Option<A>, StorageError>
  /** Removes the keys whose value matches from the cache when the open unit commits. */
  readonly evict: (matches: (value: A) => boolean) => Effect.Effect<void>
}

/** Creates a verification. Records collected uses when the scope closes. Dies if the prefix is invalid. */
export const make = Effect.fnUntraced(function*<A>(
  {
    find,
    keysCachedMax = 10_000,
    noteUses,
    prefix,
    revocationWithin = "5 seconds",
    usesWrittenWithin = "10 seconds"
  }: VerificationOptions<A>
): Effect.fn.Return<Verification<A>, never, Scope.Scope | UnitOfWork> {
  const { hash: hashOf, isWellFormed } = Token.define(prefix)
  const { afterCommit, isOpen } = yield* UnitOfWork
  const cache = KeyCache.make<A>({ maxAge: Duration.toNanosUnsafe(revocationWithin), entriesMax: keysCachedMax })
  const uses = yield* KeyUses.make({ noteUses, writtenWithin: usesWrittenWithin, keysMax: keysCachedMax })

  /** Finds a set of hashes, except those that another set has found meanwhile. */
  const load = Effect.fnUntraced(function*(hashes: ReadonlyArray<string>) {
    const now = yield* Clock.monotonicTimeNanos
    const answers = new Map<string, KeyCache.Answer<A>>()
    const missing = new Set<string>()
    for (const hash of hashes) {
      const known = cache.get(hash, now)
      if (known === undefined) missing.add(hash)
      else answers.set(hash, known)
    }
    if (missing.size > 0) {
      const keep = cache.startLoading(now)
      const found = new Map((yield* find([...missing])).map((key) => [key.hash, key]))
      // Rows that were read in an open unit may be rolled back, so they are not cached.
      const isKept = !(yield* isOpen)
      for (const hash of missing) {
        const answer = KeyCache.answerOf(found.get(hash))
        if (isKept) keep(hash, answer)
        answers.set(hash, answer)
      }
    }
    return hashes.map((hash) => answers.get(hash) ?? KeyCache.answerOf<A>(undefined))
  })

  const lookUp = yield* Folding.make({ name: "ApiKeys.lookUp", membersMax: 256, setsMax: 2, run: load })

  return {
    // Without span and generator: this runs for every request, and mostly hits the cache.
    verify: (key) =>
      Effect.withFiber((fiber) => {
        if (!isWellFormed(Redacted.value(key))) return Effect.succeedNone
        const hash = hashOf(key)
        const clock = Context.get(fiber.context, Clock.Clock)
        const answer = cache.get(hash, clock.monotonicTimeNanosUnsafe())
        if (answer !== undefined) {
          uses.note(answer, clock.currentTimeMillisUnsafe())
          return answer.effect
        }
        return Effect.flatMap(lookUp(hash), (answer) => {
          uses.note(answer, clock.currentTimeMillisUnsafe())
          return answer.effect
        })
      }),
    evict: (matches) => afterCommit(Effect.sync(() => cache.evict(matches)))
  }
})
