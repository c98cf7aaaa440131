/** The rule of places: at most `max` leases per key are live. */
import type { Decision } from "@kinora/persistence/Decision"
import { type Duration, HashMap, Option, Result } from "effect"

/** A place of a key. */
export interface Place {
  /** A uuid. */
  readonly id: string
  readonly key: string
}

/** A place, and how long its lease lasts from the time at which it is stored. */
export interface Lease extends Place {
  readonly lasts: Duration.Duration
}

/** A command to take a place. */
export interface Acquire extends Lease {
  /** The maximum number of live leases of the key, including this one. */
  readonly max: number
}

/** The number of live leases by key. Keys without live leases may be missing. */
export type Live = HashMap.HashMap<string, number>

/** The refusal when all places of a key are taken. */
export type AllTaken = "AllTaken"

/** Takes a place if one is free. */
export const acquire = (live: Live, { max, ...lease }: Acquire): Decision<Live, Lease, AllTaken> => {
  const held = Option.getOrElse(HashMap.get(live, lease.key), () => 0)
  return held < max
    ? Result.succeed({ state: HashMap.set(live, lease.key, held + 1), value: lease })
    : Result.fail("AllTaken")
}
