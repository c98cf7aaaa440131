/**
 * The rules of token buckets.
 *
 * A bucket has as many tokens as the limit, and is filled again evenly in the length of the window. A hit takes as many
 * tokens as it costs. So an interval of any length has at most the limit, and the tokens that are filled up in it.
 *
 * `missing` are the tokens that are missing, times the length of the window in milliseconds. In a millisecond, the limit is
 * subtracted from them. So all numbers are whole, and nothing is rounded: a timestamp, as in GCRA, would be a fraction
 * for most limits, and would mean other tokens if the limit changes.
 */
import type { Decided } from "@kinora/persistence/Decision"
import * as Counter from "./counter.ts"

/** A bucket. */
export interface Bucket {
  /** Missing tokens, times the length of the window in milliseconds. */
  readonly missing: number
  /** When they were missing, in whole milliseconds. */
  readonly filledAt: number
}

/** The highest product of a limit and the length of its window in milliseconds, up to which numbers are exact. */
export const productMax: number = Number.MAX_SAFE_INTEGER

/** A full bucket. */
export const full = (at: number): Bucket => ({ missing: 0, filledAt: Math.floor(at) })

/** Fills a bucket up to a time at the rate of a limit. */
export const filled = ({ filledAt, missing }: Bucket, limit: number, at: number): Bucket => {
  const now = Math.max(Math.floor(at), filledAt)
  return { missing: Math.max(missing - (now - filledAt) * limit, 0), filledAt: now }
}

/**
 * Grants as many takes of a demand as fit at a time, by the rule of `Counter.take`. `sql/takeFromBuckets.ts` does the same
 * in SQL, and a test compares the two.
 */
export const take = (before: Bucket, demand: Counter.Demand, at: number): Decided<Bucket, number> => {
  const { cost, limit, window: { length } } = demand
  const { filledAt, missing } = filled(before, limit, at)
  const { value } = Counter.take(Math.ceil(missing / length), demand)
  return { state: { missing: missing + value * cost * length, filledAt }, value }
}

/** Returns the counter of a key, as a hit with a limit sees it: the tokens that are missing, of which one may be filled partly. */
export const currentOf = (
  { key, limit, window }: Pick<Counter.Take, "key" | "limit" | "window">,
  bucket: Bucket,
  at: number
): Counter.Current => {
  const { filledAt, missing } = filled(bucket, limit, at)
  const used = Math.ceil(missing / window.length)
  return {
    key,
    period: 0,
    at,
    used,
    endsAt: used === 0 || limit === 0
      ? at + window.length
      : filledAt + Math.ceil((missing - (used - 1) * window.length) / limit),
    bucket: { filledAt, missing }
  }
}

/** Returns a bucket as a read of the storage returns it. How much of it is used depends on the limit of the hit. */
export const storedOf = (key: string, bucket: Bucket, at: number): Counter.Current => (
  { key, period: 0, at, used: 0, endsAt: Infinity, bucket }
)

/** Returns a counter that was read, as a take sees it. */
export const seenBy = (take: Counter.Take, counter: Counter.Current): Counter.Current =>
  counter.bucket === undefined ? counter : currentOf(take, counter.bucket, counter.at)

/** The time at which the bucket is full, if no hit counts until then. */
export const resetsAt = ({ limit, window }: Counter.Take, { filledAt, missing }: Bucket): number =>
  filledAt + (limit === 0 ? window.length : Math.ceil(missing / limit))

/** The earliest time at which a take fits, if nothing else counts until then. For a take that never fits, `resetsAt`. */
export const fitsAt = (take: Counter.Take, bucket: Bucket): number => {
  const { cost, limit, window } = take
  if (cost > limit || limit === 0) return resetsAt(take, bucket)
  return bucket.filledAt + Math.ceil(Math.max(bucket.missing - (limit - cost) * window.length, 0) / limit)
}

/**
 * Returns the time after which a bucket can be deleted, in milliseconds. It is full by then, unless its limit was lowered.
 * It is the same for all hits in a window, so that few of them change it.
 */
export const expiresAt = ({ length }: Counter.Window, { filledAt }: Bucket): number =>
  (Math.floor(filledAt / length) + 2) * length
