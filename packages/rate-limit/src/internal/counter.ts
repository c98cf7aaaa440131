/**
 * The rules of counting: amounts that are taken from a limit per calendar period.
 *
 * Takes with the same key, cost and limit form one demand. A demand is granted as
 * far as it fits, and its takes are accepted in order.
 */
import type { Decided } from "@kinora/persistence/Decision"

/** A calendar period in UTC. */
export type PeriodKind = "minute" | "day"

/** The length of each kind of period in milliseconds. */
export const millisecondsOf: Readonly<Record<PeriodKind, number>> = { minute: 60_000, day: 86_400_000 }

/** Returns the number of periods between 1970 and a time in milliseconds. */
export const periodOf = (kind: PeriodKind, milliseconds: number): number =>
  Math.floor(milliseconds / millisecondsOf[kind])

/** Returns the end of a period in milliseconds. */
export const endOf = (kind: PeriodKind, period: number): number => (period + 1) * millisecondsOf[kind]

/** Identifies a counter. */
export interface Slot {
  readonly key: string
  readonly period: number
}

/** A counter and its value. */
export interface Used extends Slot {
  readonly used: number
}

/** The counter of the current period of a key. */
export type Current = Omit<Grant, "granted">

/** A command to add an amount to a counter. */
export interface Amount extends Slot {
  /** A whole number, which may be negative. */
  readonly amount: number
}

/** A command to take an amount from the counter of the current period, all of it or nothing. */
export interface Take {
  readonly key: string
  /** A whole number, at least 0. */
  readonly cost: number
  /** The maximum of the period. A whole number. */
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
  /** The counter after the demand. */
  readonly used: number
  /** The number of accepted takes. */
  readonly granted: number
}

/** The result of one take. */
export interface Taken extends Pick<Grant, "at" | "period"> {
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
  { at, granted, period, used }: Grant
): ReadonlyArray<Taken> =>
  Array.from({ length: takes }, (_, rank) => ({
    at,
    period,
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
