/** Counts of jobs and workers per kind. `internal/sql/offers.ts` has the same rules in SQL. */
import { DateTime, Option } from "effect"
import type { StoredJob } from "./leases.ts"
import type { Offer, Queue } from "./storeTypes.ts"

/** How long an offer is kept after it expired, so that a worker that was delayed does not lose its row. */
export const offerKept = { minutes: 10 } as const

/** Returns whether an offer expired so long ago that it is deleted. */
export const isOld = ({ until }: Offer, now: DateTime.Utc): boolean =>
  DateTime.isLessThan(until, DateTime.subtract(now, offerKept))

/** Returns the offers that hold. */
export const held = (offers: ReadonlyArray<Offer>, now: DateTime.Utc): ReadonlyArray<Offer> =>
  offers.filter(({ until }) => DateTime.isGreaterThan(until, now))

/** Returns the queues of all kinds that have a job or a worker, sorted by kind. */
export const queues = (
  jobs: ReadonlyArray<StoredJob>,
  offers: ReadonlyArray<Offer>,
  now: DateTime.Utc
): ReadonlyArray<Queue> => {
  const holding = held(offers, now)
  const kinds = new Set([...jobs.map(({ kind }) => kind), ...holding.flatMap((offer) => offer.kinds)])
  return Array.from(kinds).toSorted().map((kind) => {
    const own = jobs.filter((job) => job.kind === kind)
    const count = (state: StoredJob["state"]) => own.filter((job) => job.state === state).length
    const times = own.filter(({ state }) => state === "queued").map(({ enqueuedAt }) => enqueuedAt)
    const workers = holding.filter((offer) => offer.kinds.includes(kind))
    return {
      kind,
      pending: count("pending"),
      queued: count("queued"),
      running: count("running"),
      oldest: times.length === 0 ? Option.none() : Option.some(times.reduce(DateTime.min)),
      workers: workers.length,
      slots: workers.reduce((sum, { slots }) => sum + slots, 0)
    }
  })
}
