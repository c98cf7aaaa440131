/** The rule of places, without a database. */
import type { DateTime } from "effect"

/** A place that is held until its lease ends, unless it is renewed. */
export interface Lease {
  /** A uuid. */
  readonly id: string
  readonly key: string
  readonly expiresAt: DateTime.Utc
}

/** A lease that is asked for: at most `max` live ones of its key, this one included. */
export interface Wanted extends Lease {
  readonly max: number
}

/** The leases that fit, each judged after those before it. `live` is how many of each key there are already. */
export const grant = (wanted: ReadonlyArray<Wanted>, live: ReadonlyMap<string, number>): ReadonlyArray<Lease> => {
  const held = new Map(live)
  return wanted.filter(({ key, max }) => {
    const count = held.get(key) ?? 0
    if (count >= max) return false
    held.set(key, count + 1)
    return true
  })
}
