/** Token buckets in memory. */
import type { MemoryMap } from "@kinora/persistence/UnitOfWork"
import * as Buckets from "../buckets.ts"
import type * as Counter from "../counter.ts"

/** A bucket, and the time after which it can be deleted. */
interface StoredBucket extends Buckets.Bucket {
  readonly expiresAt: number
}

/** Buckets by key. */
export type StoredBuckets = MemoryMap<string, StoredBucket>

/** Grants demands at a time. */
export const takeAll = (
  buckets: StoredBuckets,
  demands: ReadonlyArray<Counter.Demand>,
  at: number
): ReadonlyArray<Counter.Grant> =>
  demands.map((demand) => {
    const { state, value } = Buckets.take(find(buckets, demand.key, at), demand, at)
    buckets.set(demand.key, { ...state, expiresAt: Buckets.expiresAt(demand.window, state) })
    return { ...Buckets.currentOf(demand, state, at), granted: value }
  })

/** Returns the stored bucket of a key. */
export const read = (buckets: StoredBuckets, key: string, at: number): Counter.Current =>
  Buckets.storedOf(key, find(buckets, key, at), at)

/** Deletes up to `limit` buckets that have expired. Returns the number of deleted buckets. */
export const sweep = (buckets: StoredBuckets, at: number, limit: number): number => {
  const expired = Array.from(buckets.entries()).filter(([, { expiresAt }]) => expiresAt <= at).slice(0, limit)
  for (const [key] of expired) buckets.delete(key)
  return expired.length
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const find = (buckets: StoredBuckets, key: string, at: number): Buckets.Bucket => {
  const { filledAt, missing } = buckets.get(key) ?? Buckets.full(at)
  return { filledAt, missing }
}
