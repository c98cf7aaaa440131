/** Counts of jobs and workers per kind. `internal/sql/workers.ts` has the same rules in SQL. */
import { DateTime, Option } from "effect"
import type { StoredJob } from "./leases.ts"
import type { Offer, Queue } from "./storeTypes.ts"

/** Returns the queues of all kinds that have a job or a worker, sorted by kind. */
export const queues = (
  jobs: ReadonlyArray<StoredJob>,
  offers: ReadonlyArray<Offer>
): ReadonlyArray<Queue> => {
  const kinds = new Set([...jobs.map(({ kind }) => kind), ...offers.flatMap((offer) => offer.kinds)])
  return Array.from(kinds).toSorted().map((kind) => {
    const own = jobs.filter((job) => job.kind === kind)
    const count = (state: StoredJob["state"]) => own.filter((job) => job.state === state).length
    const times = own.filter(({ state }) => state === "queued").map(({ enqueuedAt }) => enqueuedAt)
    const workers = offers.filter((offer) => offer.kinds.includes(kind))
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
