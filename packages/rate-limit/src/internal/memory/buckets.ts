/** Token buckets in memory. */
import * as Buckets from "../buckets.ts"
import type * as Counter from "../counter.ts"
import type { Expiring, TakeAll } from "./expiringStates.ts"

/** Buckets by key. */
export type StoredBuckets = Expiring<Buckets.Bucket>

/** Grants demands at a time. */
export const takeAll: TakeAll<Buckets.Bucket> = (buckets, demands, at) =>
  demands.map((demand) => {
    const { state, value } = Buckets.take(find(buckets, demand.key, at), demand, at)
    buckets.set(demand.key, { ...state, expiresAt: Buckets.expiresAt(demand.window, state) })
    return { ...Buckets.currentOf(demand, state, at), granted: value }
  })

/** Returns the stored bucket of a key. */
export const read = (buckets: StoredBuckets, key: string, at: number): Counter.Current =>
  Buckets.storedOf(key, find(buckets, key, at), at)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const find = (buckets: StoredBuckets, key: string, at: number): Buckets.Bucket => {
  const { filledAt, missing } = buckets.get(key) ?? Buckets.full(at)
  return { filledAt, missing }
}
