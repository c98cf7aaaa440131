/** Advances that are given back to the storage. */
import * as Periodic from "@kinora/persistence/Periodic"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Clock, Duration, Effect, Latch } from "effect"
import { RateLimitStore } from "../RateLimitStore.ts"
import { type Advances, makeAdvances } from "./advances.ts"
import type * as Counter from "./counter.ts"
import { monotonicMillis } from "./monotonic.ts"

/** Options of advances. */
export interface AdvanceOptions {
  /** The time after which unspent amounts are given back. Default 0, no advances. */
  readonly advance?: Duration.Input | undefined
  /** The maximum number of keys with an advance. Default 10,000. */
  readonly advanceKeysMax?: number | undefined
}

/** The advances of a process that are given back. */
interface GivenBackAdvances extends Advances {
  /**
   * Reads a counter while no advance is being given back, and reads it again if its advance changed during the read. So the
   * counter contains the amount that `leftOf` returns. Inside a transaction it reads once, because the statement that gives
   * an advance back could wait for the locks of the transaction.
   */
  readonly read: <A, E>(key: string, counter: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/**
 * Creates advances, unless they last 0. They are given back when they expire and when the scope closes. The rest of the advances
 * of a killed process stays counted until their period ends.
 */
export const makeGivenBackAdvances = Effect.fnUntraced(function*(
  kind: Counter.AddedKind,
  { advance: lasts = 0, advanceKeysMax: keysMax = 10_000 }: AdvanceOptions
) {
  const store = yield* RateLimitStore
  const lastsMillis = Duration.toMillis(Duration.fromInputUnsafe(lasts))
  if (lastsMillis === 0) return undefined
  const advances = makeAdvances({ lastsMillis, keysMax })
  const { isOpen } = yield* UnitOfWork
  const isQuiet = Latch.makeUnsafe(true)

  /**
   * Gives amounts back once. It does not try again, since a statement that failed may have been executed, and
   * an amount that is given back twice would exceed the limit.
   */
  const giveBack = (amountsAt: (now: number) => ReadonlyArray<Counter.Amount>) =>
    Effect.flatMap(Clock.Clock, (clock) => {
      const amounts = amountsAt(monotonicMillis(clock))
      if (amounts.length === 0) return Effect.void
      isQuiet.closeUnsafe()
      return Effect.ensuring(store.add(kind, amounts), isQuiet.open)
    }).pipe(
      Effect.catchCause((cause) => Effect.logWarning("Failed to give back unspent amounts of limits", cause))
    )

  yield* Effect.addFinalizer(() => giveBack(advances.end))
  const returns = yield* Periodic.make({ every: lasts, isIdle: advances.isEmpty, run: giveBack(advances.expire) })

  const readBetween = Effect.fnUntraced(function*<A, E>(key: string, counter: Effect.Effect<A, E>) {
    for (let reads = 1;; reads++) {
      yield* isQuiet.await
      const version = advances.versionOf(key)
      const result = yield* counter
      const isUnchanged = isQuiet.isOpen() && advances.versionOf(key) === version
      if (isUnchanged || reads === readsMax) return result
    }
  })

  return {
    ...advances,
    read: (key, counter) =>
      Effect.flatMap(isOpen, (isInTransaction) => isInTransaction ? counter : readBetween(key, counter)),
    keep: (demand, grant, sentAt) => {
      advances.keep(demand, grant, sentAt)
      if (!advances.isEmpty()) returns.start()
    }
  } satisfies GivenBackAdvances
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The maximum number of reads of a counter whose advance changes all the time. */
const readsMax = 8
