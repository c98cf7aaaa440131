/** Authentication by API key, mostly from the cache. */
import { Folding, type StorageError, UnitOfWork } from "@kinora/persistence"
import { Clock, Context, type Duration, Effect, type Option, Redacted } from "effect"
import { AccountStore } from "../AccountStore.ts"
import * as ApiKey from "../ApiKey.ts"
import type { Identity } from "../Identity.ts"
import * as KeyCache from "./keyCache.ts"
import * as KeyUses from "./keyUses.ts"

/** Options for `makeAuthentication`. */
export interface AuthenticationOptions {
  readonly cache: KeyCache.KeyCache
  /** Maximum number of keys whose uses are collected. */
  readonly keysMax: number
  /** How long uses are collected before they are recorded. */
  readonly writtenWithin: Duration.Input
}

/** Creates `Accounts.authenticate`. */
export const makeAuthentication = Effect.fnUntraced(
  function*({ cache, keysMax, writtenWithin }: AuthenticationOptions) {
    const store = yield* AccountStore
    const { isOpen } = yield* UnitOfWork.UnitOfWork
    const uses = yield* KeyUses.make({ store, writtenWithin, keysMax })

    /** Reads the owners of a set of hashes, except those that another set has read meanwhile. */
    const load = Effect.fnUntraced(function*(hashes: ReadonlyArray<string>) {
      const now = yield* Clock.monotonicTimeNanos
      const answers = new Map<string, KeyCache.Answer>()
      const missing = new Set<string>()
      for (const hash of hashes) {
        const known = cache.get(hash, now)
        if (known === undefined) missing.add(hash)
        else answers.set(hash, known)
      }
      if (missing.size > 0) {
        const keep = cache.startLoading(now)
        const owners = new Map((yield* store.findOwners([...missing])).map((owner) => [owner.hash, owner]))
        // Rows that were read in an open unit may be rolled back, so they are not cached.
        const isKept = !(yield* isOpen)
        for (const hash of missing) {
          const answer = KeyCache.answerOf(owners.get(hash))
          if (isKept) keep(hash, answer)
          answers.set(hash, answer)
        }
      }
      return hashes.map((hash) => answers.get(hash) ?? KeyCache.answerOf(undefined))
    })

    const lookUp = yield* Folding.make({ name: "Accounts.lookUp", membersMax: 256, setsMax: 2, run: load })

    // Without span and generator: this runs for every request, and mostly hits the cache.
    return (key: Redacted.Redacted) =>
      Effect.withFiber<Option.Option<Identity>, StorageError.StorageError>((fiber) => {
        if (!ApiKey.isWellFormed(Redacted.value(key))) return Effect.succeedNone
        const hash = ApiKey.hash(key)
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
      })
  }
)
