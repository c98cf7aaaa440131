/**
 * Rules of the leases of workers. The memory store runs these functions;
 * `internal/sql/workers.ts` states the same rules in SQL.
 */
import * as Decision from "@kinora/persistence/Decision"
import { DateTime, Result } from "effect"
import type { NewLease, Offer, Renewal } from "./storeTypes.ts"

/** A worker as a store holds it. */
export interface StoredWorker extends Offer {
  /** `undefined` after the lease has expired and the jobs of the worker were rescued, and for a worker of a build without leases of workers. */
  readonly lease: string | undefined
  /** `undefined` for a worker of a build that does not record it. */
  readonly startedAt: DateTime.Utc | undefined
  /** Whether it is asked to drain. */
  readonly drains: boolean
}

/** The leases that hold at a time. */
export interface Held {
  readonly now: DateTime.Utc
  readonly leases: ReadonlySet<string>
}

/** Returns the leases that hold at `now`. */
export const heldAt = (workers: Iterable<StoredWorker>, now: DateTime.Utc): Held => ({
  now,
  leases: new Set(
    Array.from(workers).flatMap(({ lease, until }) =>
      lease !== undefined && DateTime.isGreaterThan(until, now) ? [lease] : []
    )
  )
})

/** Returns whether a lease holds. */
export const isHeld = ({ leases }: Held, lease: string | undefined): boolean => lease !== undefined && leases.has(lease)

/** Takes a lease, which ends the earlier one of the same worker. */
export const take = (
  before: StoredWorker | undefined,
  { ttl, ...worker }: NewLease,
  now: DateTime.Utc
): StoredWorker => ({
  ...worker,
  startedAt: before?.startedAt ?? now,
  drains: before?.drains ?? false,
  until: DateTime.addDuration(now, ttl)
})

/**
 * Renews a lease that holds. An expired lease is never renewed, since its jobs may run
 * elsewhere. Also changes what the worker claims.
 */
export const renew = (
  worker: StoredWorker | undefined,
  { kinds, lease, ttl }: Renewal,
  now: DateTime.Utc
): Decision.Decision<StoredWorker, void, "expired"> =>
  worker?.lease === lease && DateTime.isGreaterThan(worker.until, now)
    ? Decision.accept({ ...worker, kinds, until: DateTime.addDuration(now, ttl) }, undefined)
    : Result.fail("expired")

/** Ends the leases that have expired, before a rescue. After that, they cannot be renewed. */
export const endExpired = (workers: Iterable<StoredWorker>, now: DateTime.Utc): ReadonlyArray<StoredWorker> =>
  Array.from(workers)
    .filter(({ lease, until }) => lease !== undefined && DateTime.isLessThanOrEqualTo(until, now))
    .map((worker) => ({ ...worker, lease: undefined }))

/** How long a worker is kept after its lease expired, for operators who look for it. */
export const workerKept = { minutes: 10 } as const

/** Returns the workers whose lease expired so long ago that they are deleted. */
export const findOld = (workers: Iterable<StoredWorker>, now: DateTime.Utc): ReadonlyArray<StoredWorker> => {
  const keptSince = DateTime.subtract(now, workerKept)
  return Array.from(workers).filter(({ until }) => DateTime.isLessThan(until, keptSince))
}

/** Returns the workers whose lease has not expired and that claim jobs. */
export const offers = (workers: Iterable<StoredWorker>, now: DateTime.Utc): ReadonlyArray<Offer> =>
  Array.from(workers)
    .filter(({ kinds, until }) => kinds.length > 0 && DateTime.isGreaterThan(until, now))
    .map(({ drains: _, lease: __, startedAt: ___, ...offer }) => offer)
