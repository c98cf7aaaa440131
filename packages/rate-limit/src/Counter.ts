/**
 * The rules of counting, without a database: amounts that are taken from a limit
 * which is full again with every calendar period.
 *
 * Takes of one key that ask alike (same period, cost and limit) are one demand.
 * A demand is granted as far as it fits, and its takes are served in their order.
 */

/** The calendar periods that are counted, in UTC. */
export type PeriodKind = "minute" | "day"

const millisecondsOf: Readonly<Record<PeriodKind, number>> = { minute: 60_000, day: 86_400_000 }

/** The number, counted from 1970, of the period that a time in milliseconds is in. */
export const periodOf = (kind: PeriodKind, milliseconds: number): number =>
  Math.floor(milliseconds / millisecondsOf[kind])

/** When the period ends and the next one begins, in milliseconds. */
export const endOf = (kind: PeriodKind, period: number): number => (period + 1) * millisecondsOf[kind]

/** What names a counter. */
export interface Slot {
  readonly key: string
  readonly period: number
}

/** One amount that somebody asks for: all of it or nothing. */
export interface Take extends Slot {
  /** A whole number, at least 0. */
  readonly cost: number
  /** At most this much in the period. A whole number. */
  readonly limit: number
}

/** Takes that ask alike. */
export interface Demand extends Take {
  /** How many. */
  readonly takes: number
}

/** What a demand got. */
export interface Grant extends Slot {
  /** What is taken in the period, this demand included. */
  readonly used: number
  /** How many of the takes were served. */
  readonly granted: number
}

/** The answer to one take. */
export interface Answer {
  readonly accepted: boolean
  /** What is taken in the period once this take is served. */
  readonly used: number
}

/** Serves a demand where `used` is taken already. What is refused takes nothing. */
export const grant = ({ cost, key, limit, period, takes }: Demand, used: number): Grant => {
  const granted = used + cost > limit ? 0 : cost === 0 ? takes : Math.min(takes, Math.floor((limit - used) / cost))
  return { key, period, used: used + granted * cost, granted }
}

/** What a grant means for each take of its demand, in their order. */
export const answersOf = ({ cost, takes }: Demand, { granted, used }: Grant): ReadonlyArray<Answer> =>
  Array.from({ length: takes }, (_, rank) => ({
    accepted: rank < granted,
    used: used - Math.max(granted - rank - 1, 0) * cost
  }))

/** A demand, and where its takes are in the set that it was made of. */
export interface Part {
  readonly demand: Demand
  readonly indices: ReadonlyArray<number>
}

/**
 * Makes a set of takes into demands, in rounds: a statement cannot change a row
 * twice, so no round has a key twice. Where a key's takes all ask alike, as they
 * usually do, there is one round.
 */
export const roundsOf = (takes: ReadonlyArray<Take>): ReadonlyArray<ReadonlyArray<Part>> => {
  const indices = new Map<string, Array<number>>()
  for (const [index, take] of takes.entries()) {
    const text = `${take.cost}:${take.limit}:${slotText(take)}`
    const alike = indices.get(text)
    if (alike === undefined) indices.set(text, [index])
    else alike.push(index)
  }

  const rounds: Array<Array<Part>> = []
  const depths = new Map<string, number>()
  for (const alike of indices.values()) {
    const demand = { ...takes[alike[0]!]!, takes: alike.length }
    const slot = slotText(demand)
    const depth = depths.get(slot) ?? 0
    depths.set(slot, depth + 1)
    const round = rounds[depth] ??= []
    round.push({ demand, indices: alike })
  }
  return rounds
}

/** Text that is equal for equal slots only. */
export const slotText = ({ key, period }: Slot): string => `${period}:${key}`

/** In the order in which every process locks counters, so that two never wait for each other crosswise. */
export const sorted = <A extends Slot>(slots: ReadonlyArray<A>): ReadonlyArray<A> =>
  slots.toSorted((a, b) => a.period - b.period || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
