/** Windows in memory. */
import * as Counter from "../counter.ts"
import * as Windows from "../windows.ts"
import type { Expiring, TakeAll } from "./expiringStates.ts"

/** Counts by key. */
export type StoredWindows = Expiring<Windows.Counts>

/** Grants demands at a time. */
export const takeAll: TakeAll<Windows.Counts> = (windows, demands, at) =>
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

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const find = (windows: StoredWindows, { key, window }: Counter.Counted, at: number): Windows.Counts =>
  windows.get(key) ?? Windows.empty(window, Counter.periodOf(window, at))
