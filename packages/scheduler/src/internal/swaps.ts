/**
 * Which pending jobs get slots, depending on what the live workers claim. The memory store runs
 * these functions; `internal/sql/swaps.ts` and `promote` of `internal/sql/promotions.ts` state the
 * same rules in SQL.
 */
import { byPosition, type StoredJob } from "./leases.ts"
import { byPriority } from "./priorities.ts"
import type { Offer } from "./storeTypes.ts"

/** The kinds and pools that live workers claim. */
export const offeredKinds = (offers: ReadonlyArray<Offer>): ReadonlySet<string> =>
  new Set(offers.flatMap(({ kinds }) => kinds))

/** Returns the pending jobs of a lane that get the next `count` slots: those that a worker claims first, each by priority. */
export const nextInLine = (
  pending: Iterable<StoredJob>,
  offered: ReadonlySet<string>,
  count: number
): ReadonlyArray<StoredJob> => {
  const isOffered = ({ kind }: StoredJob) => Number(offered.has(kind))
  return Array.from(pending).toSorted((a, b) => isOffered(b) - isOffered(a) || byTurn(a, b)).slice(0, count)
}

/** Jobs of a lane that exchange their states. */
export interface Swap {
  /** The pending job with the slot that it gets. Its share is 0 until the lane is restamped. */
  readonly promoted: StoredJob
  /** The queued job without its slot, before all other pending jobs of the lane. */
  readonly displaced: StoredJob
}

/**
 * Exchanges queued jobs that no worker claims with pending jobs of their lanes that a worker
 * claims: the pending ones that are next get the slots of those that would start last. A job that has
 * started keeps its slot, since its time limit runs. At most `limit` swaps in at most `limit`
 * lanes, in the order of the lanes.
 */
export const swap = (
  jobs: Iterable<StoredJob>,
  offered: ReadonlySet<string>,
  limit: number,
  nextPosition: () => number
): ReadonlyArray<Swap> =>
  Array.from(Map.groupBy(jobs, ({ lane }) => lane))
    .toSorted(([a], [b]) => a < b ? -1 : 1)
    .map(([, own]) => pairsOf(own, offered))
    .filter((pairs) => pairs.length > 0)
    .slice(0, limit)
    .flat()
    .slice(0, limit)
    .map(({ displaced, position, promoted }) => ({
      promoted: { ...promoted, state: "queued", position: nextPosition(), ownPosition: undefined, share: 0 },
      displaced: { ...displaced, state: "pending", position, ownPosition: undefined, share: 0 }
    }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Orders pending jobs: those with the highest priority first, each oldest first. */
const byTurn = (a: StoredJob, b: StoredJob): number => b.priority - a.priority || byPosition(a, b)

/** The swaps of a lane, and the positions that the displaced jobs get. */
const pairsOf = (own: ReadonlyArray<StoredJob>, offered: ReadonlySet<string>) => {
  const pending = own.filter(({ state }) => state === "pending").toSorted(byTurn)
  const [first] = pending.toSorted(byPosition)
  const displaced = own
    .filter(({ kind, startedAt, state }) => state === "queued" && startedAt === undefined && !offered.has(kind))
    .toSorted(byPriority)
    .toReversed()
  return first === undefined ? [] : pending
    .filter(({ kind }) => offered.has(kind))
    .slice(0, displaced.length)
    .map((promoted, index) => ({
      promoted,
      displaced: displaced[index]!,
      position: first.position - 1 - index
    }))
}
