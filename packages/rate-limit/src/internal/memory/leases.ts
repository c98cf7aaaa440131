/** Leases in memory. */
import * as Decision from "@kinora/persistence/Decision"
import type { MemoryMap } from "@kinora/persistence/UnitOfWork"
import { DateTime, HashMap, Result } from "effect"
import * as Lease from "../lease.ts"

/** A lease and its end. */
interface StoredLease extends Lease.Place {
  readonly expiresAt: DateTime.Utc
}

/** Leases by id. */
export type Leases = MemoryMap<string, StoredLease>

/** Stores the leases that fit, and returns them. */
export const acquire = (
  leases: Leases,
  requests: ReadonlyArray<Lease.Acquire>,
  at: DateTime.Utc
): ReadonlyArray<Lease.Lease> => {
  const live = Map.groupBy(findLive(leases, at), ({ key }) => key)
  const counts = HashMap.fromIterable(Array.from(live, ([key, leases]) => [key, leases.length] as const))
  const { results } = Decision.all(counts, requests, Lease.acquire)
  const granted = results.filter(Result.isSuccess).map(({ success }) => success)
  put(leases, granted, at)
  return granted
}

/** Inserts leases that end their duration after `at`, or extends those that exist. */
export const put = (leases: Leases, added: ReadonlyArray<Lease.Lease>, at: DateTime.Utc): void => {
  for (const { id, key, lasts } of added) leases.set(id, { id, key, expiresAt: DateTime.addDuration(at, lasts) })
}

/** Returns the number of live leases of a key. */
export const countLive = (leases: Leases, key: string, at: DateTime.Utc): number =>
  findLive(leases, at).filter((lease) => lease.key === key).length

/** Deletes up to `limit` leases of a key. Returns the number of deleted leases. */
export const forget = (leases: Leases, key: string, limit: number): number => {
  const own = Array.from(leases.values()).filter((lease) => lease.key === key).slice(0, limit)
  for (const lease of own) leases.delete(lease.id)
  return own.length
}

/** Deletes up to `limit` leases that have expired. Returns the number of deleted leases. */
export const sweep = (leases: Leases, at: DateTime.Utc, limit: number): number => {
  const expired = Array.from(leases.values())
    .filter((lease) => DateTime.isLessThanOrEqualTo(lease.expiresAt, at))
    .slice(0, limit)
  for (const lease of expired) leases.delete(lease.id)
  return expired.length
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const findLive = (leases: Leases, at: DateTime.Utc): ReadonlyArray<StoredLease> =>
  Array.from(leases.values()).filter((lease) => DateTime.isGreaterThan(lease.expiresAt, at))
