/** Amounts of counters that this process took before a call asked for them, so that calls need no statement. */
import * as Counter from "./counter.ts"

/** The advances of a process. Times are of the monotonic clock, in milliseconds. */
export interface Advances {
  /** The time for which an advance is kept. */
  readonly lastsMillis: number
  /** Accepts a take if the advance of its key covers it. Returns `undefined` if the storage has to decide. */
  readonly spend: (take: Counter.Take, now: number) => Counter.Taken | undefined
  /** Returns the part of a counter that is an unspent advance of this process. */
  readonly leftOf: (counter: Counter.Slot) => number
  /** Returns a value that changes when an amount of a key is kept or taken back, so `leftOf` does not match earlier reads. */
  readonly versionOf: (key: string) => object | undefined
  /** Returns how many takes to demand beyond those of the callers. */
  readonly wanted: (demand: Counter.Demand, now: number) => number
  /** Keeps the amount that a demand was granted beyond the takes of its callers. `sentAt` is the time before the statement. */
  readonly keep: (demand: Counter.Demand, grant: Counter.Grant, sentAt: number) => void
  /** Forgets a key, whose counter was deleted, so that nothing of it is given back. */
  readonly drop: (key: string) => void
  /** Removes and returns the amounts of expired advances, negative. Forgets keys that were not used since the last time. */
  readonly expire: (now: number) => ReadonlyArray<Counter.Amount>
  /** Removes and returns the amounts of all advances, negative. */
  readonly end: (now: number) => ReadonlyArray<Counter.Amount>
  /** Returns whether no key is known. */
  readonly isEmpty: () => boolean
}

/** The last state of a counter that this process has received, and the amount that it took in advance. */
interface Advance {
  readonly key: string
  readonly period: number
  /** The highest limit of the calls that the amount was taken for. Calls with a lower limit need the storage. */
  readonly limit: number
  /** The counter when it was last changed, with all that was taken. */
  readonly used: number
  /** The time of the storage at `sentAt`, or later. */
  readonly at: number
  readonly sentAt: number
  /** The end of the period, by the clock of the storage. */
  readonly periodEndsAt: number
  /** The same on the monotonic clock, never too late, since it is measured from before the statement. */
  readonly endsAt: number
  /** The time at which the rest is given back. */
  expiresAt: number
  /** The start of the time in which `asked` was counted. */
  readonly since: number
  /** The amount that calls asked for since `since`, and the time of the last one. */
  asked: number
  askedAt: number
  /** The amount that is not spent. */
  left: number
  /** Replaced when `left` changes by more than a take. */
  version: object
}

/**
 * Creates an empty set of advances of at most `keysMax` keys.
 *
 * A process takes as much as its calls asked for in the time that an advance lasts, and at most half of the free part of the
 * counter. It takes nothing while half of the limit or more is used, so the storage decides the last calls of a
 * period, and limits stay exact.
 */
export const makeAdvances = (
  { keysMax, lastsMillis }: { readonly keysMax: number; readonly lastsMillis: number }
): Advances => {
  const advances = new Map<string, Advance>()
  return {
    lastsMillis,

    spend: (take, now) => {
      const advance = advances.get(take.key)
      return advance === undefined ? undefined : spendFrom(advance, take, now)
    },

    leftOf: ({ key, period }) => {
      const advance = advances.get(key)
      return advance?.period === period ? advance.left : 0
    },

    versionOf: (key) => advances.get(key)?.version,

    wanted: (demand, now) => {
      const advance = advances.get(demand.key)
      return advance === undefined || demand.cost === 0 ? 0 : wantedOf(advance, demand, now, lastsMillis)
    },

    keep: (demand, grant, sentAt) => {
      const { advanceMax = 0, cost, key, limit, takes } = demand
      const before = advances.get(key)
      if (advanceMax === 0 || before === undefined && advances.size >= keysMax) return
      const { at, endsAt, granted, period, used } = grant
      const isRecent = before !== undefined && sentAt - before.since < lastsMillis
      const rest = before?.period === period ? before.left : 0
      advances.set(key, {
        key,
        period,
        limit: rest > 0 ? Math.max(before!.limit, limit) : limit,
        used,
        at,
        sentAt,
        periodEndsAt: endsAt,
        endsAt: sentAt + endsAt - at,
        expiresAt: sentAt + lastsMillis,
        since: isRecent ? before.since : sentAt,
        asked: (isRecent ? before.asked : 0) + takes * cost,
        askedAt: sentAt,
        left: Math.max(granted - takes, 0) * cost + rest,
        version: {}
      })
    },

    drop: (key) => {
      advances.delete(key)
    },

    expire: (now) => {
      const expired = Array.from(advances.values()).filter(({ expiresAt }) => expiresAt <= now)
      for (const advance of expired) {
        advance.expiresAt = now + lastsMillis
        if (advance.askedAt <= now - lastsMillis) advances.delete(advance.key)
      }
      return takeBack(expired, now)
    },

    end: (now) => takeBack(Array.from(advances.values()), now),

    isEmpty: () => advances.size === 0
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const spendFrom = (advance: Advance, { cost, limit }: Counter.Take, now: number): Counter.Taken | undefined => {
  if (advance.endsAt <= now || advance.left < cost || advance.limit > limit) return undefined
  advance.asked += cost
  advance.askedAt = now
  advance.left -= cost
  const { at, left, period, periodEndsAt, sentAt, used } = advance
  return { accepted: true, period, used: used - left, at: at + now - sentAt, endsAt: periodEndsAt }
}

const wantedOf = (
  advance: Advance,
  { advanceMax = 0, cost, limit }: Counter.Demand,
  now: number,
  lastsMillis: number
): number => {
  const { asked, endsAt, sentAt, since } = advance
  // The known counter is too old to determine whether half of the limit is free.
  if (now - sentAt > 2 * lastsMillis) return 0
  const { left, used } = endsAt > now ? advance : { left: 0, used: 0 }
  if (used * 2 >= limit) return 0
  const expected = asked * Math.min(1, lastsMillis / (now - since))
  return Math.max(Math.floor(Math.min(expected - left, (limit - used) / 2, advanceMax - left) / cost), 0)
}

/** Removes and returns the rest of advances whose period has not ended. */
const takeBack = (advances: ReadonlyArray<Advance>, now: number): ReadonlyArray<Counter.Amount> => {
  const amounts = advances.filter(({ endsAt, left }) => left > 0 && endsAt > now)
    .map(({ key, left, period }): Counter.Amount => ({ key, period, amount: -left }))
  for (const advance of advances) {
    advance.left = 0
    advance.version = {}
  }
  return Counter.sorted(amounts)
}
