/** Counters in memory. */
import type { MemoryBackend, MemoryMap } from "@kinora/persistence/UnitOfWork"
import * as Counter from "../counter.ts"

/** Counters of one kind of period, by `Counter.slotText`. */
export type Counters = MemoryMap<string, Counter.Used>

/** Creates counters of the calendar. */
export const make = (memory: MemoryBackend["Service"]): Readonly<Record<Counter.PeriodKind, Counters>> => ({
  minute: memory.makeMap(),
  day: memory.makeMap()
})

/** Returns a counter, which is 0 if it does not exist. */
export const read = (counters: Counters, { key, period }: Counter.Slot): Counter.Used =>
  counters.get(Counter.slotText({ key, period })) ?? { key, period, used: 0 }

/** Grants a demand on the counter of the current period. */
export const take = (
  counters: Counters,
  demand: Counter.Demand,
  { at, endsAt, period }: Pick<Counter.Current, "at" | "endsAt" | "period">
): Counter.Grant => {
  const { key, used } = read(counters, { key: demand.key, period })
  const { state, value } = Counter.take(used, demand)
  counters.set(Counter.slotText({ key, period }), { key, period, used: state })
  return { key, period, used: state, granted: value, at, endsAt }
}

/** Adds an amount. */
export const add = (counters: Counters, amount: Counter.Amount): void => {
  const { key, period, used } = read(counters, amount)
  counters.set(Counter.slotText(amount), { key, period, used: Counter.add(used, amount.amount) })
}

/** Deletes up to `limit` counters of a key. Returns the number of deleted counters. */
export const forget = (counters: Counters, key: string, limit: number): number => {
  const own = Array.from(counters.values()).filter((counter) => counter.key === key).slice(0, limit)
  for (const counter of own) counters.delete(Counter.slotText(counter))
  return own.length
}

/** Deletes up to `limit` counters of periods before `period`. Returns the number of deleted counters. */
export const sweep = (counters: Counters, before: number, limit: number): number => {
  const past = Array.from(counters.values()).filter(({ period }) => period < before).slice(0, limit)
  for (const counter of past) counters.delete(Counter.slotText(counter))
  return past.length
}
