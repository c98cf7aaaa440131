/** States in memory that do not count after a time. */
import type { MemoryMap } from "@kinora/persistence/UnitOfWork"
import type * as Counter from "../counter.ts"

/** States by key, with the time after which each can be deleted. */
export type Expiring<State> = MemoryMap<string, State & { readonly expiresAt: number }>

/** Grants demands at a time, one result per demand, in order. */
export type TakeAll<State> = (
  states: Expiring<State>,
  demands: ReadonlyArray<Counter.Demand>,
  at: number
) => ReadonlyArray<Counter.Grant>

/** Deletes up to `limit` states that have expired. Returns the number of deleted states. */
export const sweep = <State>(states: Expiring<State>, at: number, limit: number): number => {
  const expired = Array.from(states.entries()).filter(([, { expiresAt }]) => expiresAt <= at).slice(0, limit)
  for (const [key] of expired) states.delete(key)
  return expired.length
}
