/** Amounts of counters that this process took before a call asked for them, so that calls need no statement. */
import { Clock, Duration, Effect, Latch } from "effect"
import { RateLimitStore } from "../RateLimitStore.ts"
import * as Counter from "./counter.ts"
import { monotonicMillis } from "./monotonic.ts"

/** Amounts that calls spend without a statement, and how much to take for the next calls. */
export interface Advances {
  /** The time for which an advance is kept. */
  readonly lastsMillis: number
  /** Accepts a take if the advance of its key covers it. Returns `undefined` if the storage has to decide. */
  readonly spend: (take: Counter.Take, now: number) => Counter.Taken | undefined
  /** Returns the part of a counter that is an unspent advance of this process. */
  readonly leftOf: (counter: Counter.Slot) => number
  /** Returns how many takes to demand beyond those of the callers. */
  readonly wanted: (demand: Counter.Demand, now: number) => number
  /** Keeps what a demand was granted beyond the takes of its callers. `sentAt` is the time before the statement. */
  readonly keep: (demand: Counter.Demand, grant: Counter.Grant, sentAt: number) => void
}

/** Options of advances. */
export interface AdvancesOptions {
  /** The time after which unspent amounts are given back. Default 0, no advances. */
  readonly advance?: Duration.Input | undefined
  /** The maximum number of keys with an advance. Default 10,000. */
  readonly advanceKeysMax?: number | undefined
}

/** What this process knows about the counter of a key, and what it took of it. Times are of the monotonic clock. */
interface Advance {
  readonly key: string
  readonly period: number
  /** The limit of the calls that the amount was taken for. Calls with a lower limit need the storage. */
  readonly limit: number
  /** The counter when it was last changed, with all that was taken. */
  readonly used: number
  /** The time of the storage at `sentAt`, or later. */
  readonly at: number
  readonly sentAt: number
  /** The end of the period, never too late, since it is measured from before the statement. */
  readonly endsAt: number
  /** The time at which what is left is given back. */
  expiresAt: number
  /** The start of the time in which `asked` was counted. */
  readonly since: number
  /** What calls asked for since `since`, and when the last one did. */
  asked: number
  askedAt: number
  /** The amount that is not spent. */
  left: number
}

/**
 * Creates advances, unless they last 0. They are given back when they expire and when the scope closes. What a killed process took stays
 * counted until its period ends.
 *
 * A process takes as much as its calls asked for in the time that an advance lasts, and at most half of what the
 * counter had left. It takes nothing while half of the limit or more is used, so the last calls of a period are decided by the
 * storage, and limits stay exact.
 */
export const makeAdvances = Effect.fnUntraced(function*(
  kind: Counter.PeriodKind,
  { advance: lasts = 0, advanceKeysMax = 10_000 }: AdvancesOptions
) {
  const store = yield* RateLimitStore
  const lastsMillis = Duration.toMillis(Duration.fromInputUnsafe(lasts))
  if (lastsMillis === 0) return undefined
  const advances = new Map<string, Advance>()
  const isHolding = Latch.makeUnsafe(false)

  /**
   * Gives back what is left of advances. Does not try again, since a statement that failed may have been executed, and
   * an amount that is given back twice would exceed the limit.
   */
  const giveBack = Effect.fnUntraced(function*(over: ReadonlyArray<Advance>, now: number) {
    const amounts = over.filter(({ endsAt, left }) => left > 0 && endsAt > now)
      .map(({ key, left, period }): Counter.Amount => ({ key, period, amount: -left }))
    for (const advance of over) advance.left = 0
    if (amounts.length > 0) yield* store.add(kind, Counter.sorted(amounts))
  }, Effect.catchCause((cause) => Effect.logWarning("Failed to give back unspent amounts of limits", cause)))

  /** Gives back what is left of expired advances, and forgets those of keys that were not used since. */
  const expire = Effect.gen(function*() {
    const now = monotonicMillis(yield* Clock.Clock)
    const expired = Array.from(advances.values()).filter(({ expiresAt }) => expiresAt <= now)
    for (const advance of expired) {
      advance.expiresAt = now + lastsMillis
      if (advance.askedAt <= now - lastsMillis) advances.delete(advance.key)
    }
    if (advances.size === 0) isHolding.closeUnsafe()
    yield* giveBack(expired, now)
  })

  yield* Effect.addFinalizer(() =>
    Effect.flatMap(Clock.Clock, (clock) => giveBack(Array.from(advances.values()), monotonicMillis(clock)))
  )
  // In a fiber of the layer, whose services are those of no transaction.
  yield* isHolding.await.pipe(
    Effect.andThen(Effect.sleep(lasts)),
    Effect.andThen(expire),
    Effect.forever,
    Effect.forkScoped
  )

  return {
    lastsMillis,

    spend: ({ cost, key, limit }, now) => {
      const advance = advances.get(key)
      if (advance === undefined || advance.endsAt <= now) return undefined
      if (advance.left < cost || advance.limit > limit) return undefined
      advance.asked += cost
      advance.askedAt = now
      advance.left -= cost
      const { at, left, period, sentAt, used } = advance
      return { accepted: true, period, used: used - left, at: at + now - sentAt }
    },

    leftOf: ({ key, period }) => {
      const advance = advances.get(key)
      return advance?.period === period ? advance.left : 0
    },

    wanted: ({ advanceMax = 0, cost, key, limit }, now) => {
      const advance = advances.get(key)
      if (advance === undefined || cost === 0 || advanceMax === 0) return 0
      const { asked, endsAt, sentAt, since } = advance
      // What is known is too old to tell whether half of the limit is free.
      if (now - sentAt > 2 * lastsMillis) return 0
      const { left, used } = endsAt > now ? advance : { left: 0, used: 0 }
      if (used * 2 >= limit) return 0
      const expected = asked * Math.min(1, lastsMillis / (now - since))
      return Math.max(Math.floor(Math.min(expected - left, (limit - used) / 2, advanceMax - left) / cost), 0)
    },

    keep: ({ advanceMax = 0, cost, key, limit, takes }, { at, granted, period, used }, sentAt) => {
      const before = advances.get(key)
      if (advanceMax === 0) return
      if (before === undefined && advances.size >= advanceKeysMax) return
      const taken = Math.max(granted - takes, 0) * cost
      const isRecent = before !== undefined && sentAt - before.since < lastsMillis
      advances.set(key, {
        key,
        period,
        limit,
        used,
        at,
        sentAt,
        endsAt: sentAt + Counter.endOf(kind, period) - at,
        expiresAt: sentAt + lastsMillis,
        since: isRecent ? before.since : sentAt,
        asked: (isRecent ? before.asked : 0) + takes * cost,
        askedAt: sentAt,
        left: taken + (before?.period === period ? before.left : 0)
      })
      isHolding.openUnsafe()
    }
  } satisfies Advances
})
