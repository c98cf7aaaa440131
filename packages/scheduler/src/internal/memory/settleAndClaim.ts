/** Ends jobs in memory, and leases those that get their slots. */
import * as Decision from "@kinora/persistence/Decision"
import type { StorageError } from "@kinora/persistence/StorageError"
import { type DateTime, Effect, Result } from "effect"
import type { JobAddress, Lease } from "../../Job.ts"
import * as Lanes from "../../Lanes.ts"
import type { JobId } from "../ids.ts"
import { changesOf } from "../laneChanges.ts"
import * as Leases from "../leases.ts"
import { fromState } from "../loadedLanes.ts"
import type { RefillTerms, Settled } from "../storeTypes.ts"
import { heldAt } from "../workers.ts"
import { apply, load } from "./lanes.ts"
import type { Tables } from "./tables.ts"

/** Decides like a unit that settles the jobs, and then claims like a worker that finds only the jobs that the unit promoted. */
export const settleAndClaim = (
  tables: Tables,
  ended: ReadonlyArray<Lease & JobAddress>,
  terms: RefillTerms,
  now: DateTime.Utc
): Effect.Effect<Settled, StorageError> => {
  const { results, state } = Decision.all(lanesOf(tables, ended.filter(isIn(tables))), ended, Lanes.settle)
  const isAnyQueued = Array.from(tables.queued.values()).some(({ aloneFrom, kind }) =>
    terms.kinds.includes(kind) && aloneFrom === undefined
  )
  return Effect.map(apply(tables, changesOf(state), now), (applied) => {
    const { kinds, promoted, restamped } = applied
    const claimed = isAnyQueued ? [] : claimPromoted(tables, promoted, terms, now)
    return {
      left: ended.filter((_, index) => Result.isFailure(results[index]!)).map(({ job }) => job),
      claimed: claimed.map((job) => Leases.toClaimed(job, now)),
      hasQueued: restamped > 0 || claimed.length < promoted.length,
      kinds
    }
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Whether the job is in its lane. */
const isIn = ({ jobs }: Tables) => ({ group, job, lane }: JobAddress) => {
  const found = jobs.get(job)
  return found?.lane === lane && found.group === group
}

const lanesOf = (tables: Tables, jobs: ReadonlyArray<JobAddress>): Lanes.Lanes =>
  fromState(
    load(tables, {
      groups: Array.from(new Set(jobs.map(({ group }) => group))),
      lanes: Array.from(
        new Map(jobs.map((job) => [job.lane, job])).values(),
        ({ group, lane }) => ({ lane, group, isCreated: false })
      ),
      jobs: jobs.map(({ job }) => job),
      keys: []
    }),
    { attemptsMax: 1, waitingMax: 0 }
  )

/** Claims all promoted jobs of the kinds, or none. */
const claimPromoted = (tables: Tables, promoted: ReadonlyArray<JobId>, terms: RefillTerms, now: DateTime.Utc) => {
  const jobs = promoted.flatMap((job) => tables.jobs.get(job) ?? []).filter(({ kind }) => terms.kinds.includes(kind))
  if (jobs.length > terms.limit) return []
  const { claimed } = Leases.claim(
    jobs,
    { ...terms, resumableKinds: [], alone: false, except: [] },
    heldAt(tables.workers.values(), now)
  )
  claimed.forEach(tables.put)
  return claimed
}
