/** Windows in memory. */
import type { MemoryMap } from "@kinora/persistence/UnitOfWork"
import * as Counter from "../counter.ts"
import * as Windows from "../windows.ts"

/** The counts of a key, and the time after which they do not count. */
interface StoredWindow extends Windows.Counts {
  readonly expiresAt: number
}

/** Counts by key. */
export type StoredWindows = MemoryMap<string, StoredWindow>

/** Grants demands at a time. */
export const takeAll = (
  windows: StoredWindows,
  demands: ReadonlyArray<Counter.Demand>,
  at: number
): ReadonlyArray<Counter.Grant> =>
  demands.map((demand) => {
    const { key, window } = demand
    const { state, value } = Windows.take(find(windows, demand, at), demand, at)
    windows.set(key, { ...state, expiresAt: Windows.expiresAt(window, state.period) })
    return { ...Windows.currentOf(demand, state, at), granted: value }
  })

/** Adds an amount to a window that exists. */
export const add = (windows: StoredWindows, amount: Counter.Amount): void => {
  const stored = windows.get(amount.key)
  if (stored !== undefined) windows.set(amount.key, { ...stored, ...Windows.add(stored, amount) })
}

/** Returns the counter of a key at a time. */
export const read = (windows: StoredWindows, counted: Counter.Counted, at: number): Counter.Current =>
  Windows.currentOf(
    counted,
    Windows.moved(find(windows, counted, at), Counter.periodOf(counted.window, at)),
    at
  )

/** Deletes up to `limit` windows that have expired. Returns the number of deleted windows. */
export const sweep = (windows: StoredWindows, at: number, limit: number): number => {
  const expired = Array.from(windows.entries()).filter(([, { expiresAt }]) => expiresAt <= at).slice(0, limit)
  for (const [key] of expired) windows.delete(key)
  return expired.length
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const find = (windows: StoredWindows, { key, window }: Counter.Counted, at: number): Windows.Counts =>
  windows.get(key) ?? Windows.empty(window, Counter.periodOf(window, at))
