/** Records uses of keys in the background. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { DateTime, type Duration, Effect, Latch, type Scope } from "effect"
import type { KeyId } from "../ApiKey.ts"
import type { KeyUse } from "../ApiKeyStore.ts"
import { setBounded } from "./boundedMap.ts"
import type { Answer } from "./keyCache.ts"

/** Collects uses of keys. */
export interface KeyUses {
  /** Collects a use of the key, unless one was collected within the last minute. */
  readonly note: (answer: Pick<Answer<unknown>, "key" | "lastUsedMillis">, nowMillis: number) => void
}

/** Options for `make`. */
export interface KeyUsesOptions {
  readonly noteUses: (uses: ReadonlyArray<KeyUse>) => Effect.Effect<void, StorageError>
  /** How long uses are collected before they are recorded. */
  readonly writtenWithin: Duration.Input
  /** Maximum number of keys in one write. Uses of further keys are dropped. */
  readonly keysMax: number
}

/** Starts recording. Records the collected uses when the scope closes. */
export const make = Effect.fnUntraced(
  function*({ keysMax, noteUses, writtenWithin }: KeyUsesOptions): Effect.fn.Return<KeyUses, never, Scope.Scope> {
    let pending: Array<KeyUse> = []
    const somePending = Latch.makeUnsafe(false)
    // Uses that are not visible in the store yet.
    const noted = new Map<KeyId, number>()

    const write = Effect.suspend(() => {
      const uses = pending
      pending = []
      somePending.closeUnsafe()
      return uses.length === 0 ? Effect.void : Effect.catchCause(noteUses(uses), (cause) => {
        // The next use is collected again.
        for (const { key } of uses) noted.delete(key)
        return Effect.logWarning("Recording the uses of API keys failed", cause)
      })
    }).pipe(Effect.withSpan("ApiKeys.noteUses"))

    yield* Effect.addFinalizer(() => write)
    // Sleeps only while uses are pending, so that an idle host does nothing.
    yield* somePending.await.pipe(
      Effect.andThen(Effect.sleep(writtenWithin)),
      Effect.andThen(Effect.uninterruptible(write)),
      Effect.forever,
      Effect.forkScoped
    )

    return {
      note: (answer, nowMillis) => {
        const { key } = answer
        if (key === undefined || nowMillis - answer.lastUsedMillis < minuteMillis) return
        const lastMillis = noted.get(key) ?? -Infinity
        answer.lastUsedMillis = lastMillis
        if (nowMillis - lastMillis < minuteMillis || pending.length >= keysMax) return
        answer.lastUsedMillis = nowMillis
        setBounded(noted, keysMax, key, nowMillis)
        pending.push({ key, at: DateTime.makeUnsafe(nowMillis) })
        somePending.openUnsafe()
      }
    }
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const minuteMillis = 60_000
