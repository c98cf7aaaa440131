/** Notes when keys are used, off the way of the requests that use them. */
import { DateTime, type Duration, Effect, Latch, Option, type Scope } from "effect"
import type { AccountStore } from "../AccountStore.ts"
import type { KeyId } from "../ApiKey.ts"
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
  /** Keys in one write; uses of further keys are dropped. */
  readonly keysMax: number
}

/** Starts the writing. What is collected when the scope ends is written then. */
export const make = Effect.fnUntraced(
  function*({ keysMax, store, writtenWithin }: KeyUsesOptions): Effect.fn.Return<KeyUses, never, Scope.Scope> {
    let pending = new Map<KeyId, number>()
    const somePending = Latch.makeUnsafe(false)

    const write = Effect.suspend(() => {
      const uses = Array.from(pending, ([key, at]) => ({ key, at: DateTime.makeUnsafe(at) }))
      pending = new Map()
      somePending.closeUnsafe()
      return uses.length === 0 ? Effect.void : store.noteUses(uses)
    }).pipe(
      // The next use that finds an old record notes itself again.
      Effect.catchCause((cause) => Effect.logWarning("Uses of API keys were not noted", cause)),
      Effect.withSpan("Accounts.noteUses")
    )

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
        answer.lastUsedMillis = nowMillis
        const { keyId } = answer.identity.value
        if (pending.size >= keysMax && !pending.has(keyId)) return
        pending.set(keyId, nowMillis)
        somePending.openUnsafe()
      }
    }
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const minuteMillis = 60_000
