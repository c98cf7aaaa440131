/**
 * The rules of counting: amounts that are taken from a limit per calendar period.
 *
 * Takes with the same key, cost and limit form one demand. A demand is granted as
 * far as it fits, and its takes are accepted in order.
 */
import type { Decided } from "@kinora/persistence/Decision"

/** A counter of each calendar minute, in UTC, or of each day. */
export type PeriodKind = "minute" | "day"

/** Where amounts are counted: in minutes, in days, in windows of any length, or in token buckets. */
export type CounterKind = PeriodKind | "window" | "bucket"

/** Counters to which amounts can be added, and from which they can be taken in advance. */
export type AddedKind = PeriodKind | "window"

/**
 * A window in which amounts are counted. Windows are aligned to 1970. A fixed window has one part, and its counter starts
 * at 0. `windows.ts` counts in more parts.
 */
export interface Window {
  /** The length in milliseconds. */
  readonly length: number
  readonly parts: number
}

/** The windows of the calendar. */
export const windows: Readonly<Record<PeriodKind, Window>> = {
  minute: { length: 60_000, parts: 1 },
  day: { length: 86_400_000, parts: 1 }
}

/** Returns the number of parts between 1970 and a time in milliseconds. */
export const periodOf = ({ length, parts }: Window, milliseconds: number): number =>
  Math.floor(milliseconds * parts / length)

/** Returns the end of a part in milliseconds. */
export const endOf = ({ length, parts }: Window, period: number): number => Math.ceil((period + 1) * length / parts)

/** Identifies a counter. */
export interface Slot {
  readonly key: string
  readonly period: number
}

/** A counter and its value. */
export interface Used extends Slot {
  readonly used: number
}

/** A key, and the window in which its amounts are counted. */
export interface Counted {
  /** Identifies the counter among those of its kind. */
  readonly key: string
  readonly window: Window
}

/** The counter of the current period of a key. */
export type Current = Omit<Grant, "granted">

/** A command to add an amount to a counter. */
export interface Amount extends Slot {
  /** A whole number, which may be negative. */
  readonly amount: number
}

/** A command to take an amount from the counter of the current period, all of it or nothing. */
export interface Take extends Counted {
  /** A whole number, at least 0. */
  readonly cost: number
  /** The maximum of the window. A whole number. */
  readonly limit: number
  /** The maximum amount that this process may take for later takes of the key. Default 0. */
  readonly advanceMax?: number | undefined
}

/** Takes with the same key, cost and limit. */
export interface Demand extends Take {
  /** The number of takes. */
  readonly takes: number
}

/** The result of a demand, with the counter of the period that it was taken from. */
export interface Grant extends Slot {
  /** When the demand was decided, by the clock of the storage, in milliseconds. */
  readonly at: number
  /**
   * The time until which the counter can fall only by amounts that are added: the end of its period, or the time at which
   * a token bucket has one more token.
   */
  readonly endsAt: number
  /** The counter after the demand. */
  readonly used: number
  /** The counts of a sliding window, as of `Windows.Counts`. */
  readonly counts?: ReadonlyArray<number> | undefined
  /** The token bucket (`Buckets.Bucket`). */
  readonly bucket?: { readonly missing: number; readonly filledAt: number } | undefined
  /** The number of accepted takes. */
  readonly granted: number
}

/** The result of one take. */
export interface Taken extends Pick<Grant, "at" | "bucket" | "counts" | "endsAt" | "period"> {
  readonly accepted: boolean
  /** The counter after the take. */
  readonly used: number
}

/**
 * Grants as many takes of a demand as fit on a counter. Returns the counter and the
 * number of accepted takes. Refused takes do not count. `sql/takeFromCounters.ts` does the
 * same in SQL, and a test compares the two.
 */
export const take = (used: number, { cost, limit, takes }: Demand): Decided<number, number> => {
  const granted = used + cost > limit ? 0 : cost === 0 ? takes : Math.min(takes, Math.floor((limit - used) / cost))
  return { state: used + granted * cost, value: granted }
}

/** Adds an amount, which may be negative, to a counter regardless of limits. A counter is never below 0. */
export const add = (used: number, amount: number): number => Math.max(used + amount, 0)

/** Returns the results of the first takes of a demand, in order: those of its callers. */
export const takenOf = (
  { cost, takes }: Pick<Demand, "cost" | "takes">,
  { at, bucket, counts, endsAt, granted, period, used }: Grant
): ReadonlyArray<Taken> =>
  Array.from({ length: takes }, (_, rank) => ({
    at,
    period,
    endsAt,
    counts,
    bucket,
    accepted: rank < granted,
    used: used - Math.max(granted - rank - 1, 0) * cost
  }))

/** A demand, and the indices of its takes in the set that it was made of. */
export interface Part {
  readonly demand: Demand
  readonly indices: ReadonlyArray<number>
}

/**
 * Groups a set of takes into demands, in rounds. A statement cannot change a row twice,
 * so a key occurs at most once per round. There is one round if all takes of each key have
 * the same cost and limit.
 */
export const roundsOf = (takes: ReadonlyArray<Take>): ReadonlyArray<ReadonlyArray<Part>> => {
  const indices = new Map<string, Array<number>>()
  for (const [index, take] of takes.entries()) {
    const text = `${take.cost}:${take.limit}:${take.key}`
    const group = indices.get(text)
    if (group === undefined) indices.set(text, [index])
    else group.push(index)
  }

  const rounds: Array<Array<Part>> = []
  const depths = new Map<string, number>()
  for (const group of indices.values()) {
    const demand = { ...takes[group[0]!]!, takes: group.length }
    const depth = depths.get(demand.key) ?? 0
    depths.set(demand.key, depth + 1)
    const round = rounds[depth] ??= []
    round.push({ demand, indices: group })
  }
  return rounds
}

/** Returns a text that identifies the counter. */
export const slotText = ({ key, period }: Slot): string => `${period}:${key}`

/**
 * Sorts counters in the order in which every process locks them, so that two processes cannot
 * deadlock. Those of the current period have no `period` yet, and all have the same.
 */
export const sorted = <A extends { readonly key: string; readonly period?: number | undefined }>(
  slots: ReadonlyArray<A>
): ReadonlyArray<A> =>
  slots.toSorted((a, b) => (a.period ?? 0) - (b.period ?? 0) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
