/** Advances that are given back to the storage. */
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

/**
 * Creates advances, unless they last 0. They are given back when they expire and when the scope closes. The rest of the advances
 * of a killed process stays counted until their period ends.
 */
export const makeGivenBackAdvances = Effect.fnUntraced(function*(
  kind: Counter.PeriodKind,
  { advance: lasts = 0, advanceKeysMax: keysMax = 10_000 }: AdvanceOptions
) {
  const store = yield* RateLimitStore
  const lastsMillis = Duration.toMillis(Duration.fromInputUnsafe(lasts))
  if (lastsMillis === 0) return undefined
  const advances = makeAdvances({ kind, lastsMillis, keysMax })
  const isHolding = Latch.makeUnsafe(false)

  /**
   * Gives amounts back once. It does not try again, since a statement that failed may have been executed, and
   * an amount that is given back twice would exceed the limit.
   */
  const giveBack = (amountsAt: (now: number) => ReadonlyArray<Counter.Amount>) =>
    Effect.flatMap(Clock.Clock, (clock) => {
      const amounts = amountsAt(monotonicMillis(clock))
      if (advances.isEmpty()) isHolding.closeUnsafe()
      return amounts.length === 0 ? Effect.void : store.add(kind, amounts)
    }).pipe(
      Effect.catchCause((cause) => Effect.logWarning("Failed to give back unspent amounts of limits", cause))
    )

  yield* Effect.addFinalizer(() => giveBack(advances.end))
  // In a fiber of the layer, whose services are those of no transaction.
  yield* isHolding.await.pipe(
    Effect.andThen(Effect.sleep(lasts)),
    Effect.andThen(giveBack(advances.expire)),
    Effect.forever,
    Effect.forkScoped
  )

  return {
    ...advances,
    keep: (demand, grant, sentAt) => {
      advances.keep(demand, grant, sentAt)
      if (!advances.isEmpty()) isHolding.openUnsafe()
    }
  } satisfies Advances
})
