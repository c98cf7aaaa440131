/** Notes when keys are used, off the way of the requests that use them. */
import { DateTime, type Duration, Effect, Latch, Option, type Scope } from "effect"
import type { AccountStore, KeyUse } from "../AccountStore.ts"
import type { KeyId } from "../ApiKey.ts"
import { setBounded } from "./boundedMap.ts"
import type { Answer } from "./keyCache.ts"

/** Collects uses. */
export interface KeyUses {
  /** Notes that the key of this answer is used, unless it was noted within the last minute. Never fails. */
  readonly note: (answer: Answer, nowMillis: number) => void
}

/** What the collecting can be told. */
export interface KeyUsesOptions {
  readonly store: AccountStore["Service"]
  /** How long uses are collected before they are written. */
  readonly writtenWithin: Duration.Input
  /** Keys in one write, and keys whose last note is remembered; uses of further keys in one write are dropped. */
  readonly keysMax: number
}

/** Starts the writing. What is collected when the scope ends is written then. */
export const make = Effect.fnUntraced(
  function*({ keysMax, store, writtenWithin }: KeyUsesOptions): Effect.fn.Return<KeyUses, never, Scope.Scope> {
    let pending: Array<KeyUse> = []
    const somePending = Latch.makeUnsafe(false)
    // What is on its way to the store, which a fresh look-up does not show yet.
    const noted = new Map<KeyId, number>()

    const write = Effect.suspend(() => {
      const uses = pending
      pending = []
      somePending.closeUnsafe()
      return uses.length === 0 ? Effect.void : Effect.catchCause(store.noteUses(uses), (cause) => {
        // The next use that finds an old record notes itself again.
        for (const { key } of uses) noted.delete(key)
        return Effect.logWarning("Uses of API keys were not noted", cause)
      })
    }).pipe(Effect.withSpan("Accounts.noteUses"))

    yield* Effect.addFinalizer(() => write)
    // Sleeps only while something is pending, so that an idle host does nothing.
    yield* somePending.await.pipe(
      Effect.andThen(Effect.sleep(writtenWithin)),
      Effect.andThen(Effect.uninterruptible(write)),
      Effect.forever,
      Effect.forkScoped
    )

    return {
      note: (answer, nowMillis) => {
        if (Option.isNone(answer.identity) || nowMillis - answer.lastUsedMillis < minuteMillis) return
        const { keyId } = answer.identity.value
        const lastMillis = noted.get(keyId) ?? -Infinity
        answer.lastUsedMillis = lastMillis
        if (nowMillis - lastMillis < minuteMillis || pending.length >= keysMax) return
        answer.lastUsedMillis = nowMillis
        setBounded(noted, keysMax, keyId, nowMillis)
        pending.push({ key: keyId, at: DateTime.makeUnsafe(nowMillis) })
        somePending.openUnsafe()
      }
    }
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const minuteMillis = 60_000
