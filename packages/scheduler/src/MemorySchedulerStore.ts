/** Stores lanes and jobs in the memory of this process. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import type * as Decision from "@kinora/persistence/Decision"
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Layer, Result } from "effect"
import * as Audit from "./internal/audit.ts"
import * as Delays from "./internal/delays.ts"
import type { GroupId, JobId } from "./internal/ids.ts"
import * as Leases from "./internal/leases.ts"
import * as Direct from "./internal/memory/direct.ts"
import * as Forget from "./internal/memory/forget.ts"
import * as Lanes from "./internal/memory/lanes.ts"
import { settleAndClaim } from "./internal/memory/settleAndClaim.ts"
import * as Tables from "./internal/memory/tables.ts"
import * as Queues from "./internal/queues.ts"
import type { LeaseLost } from "./internal/reasons.ts"
import type { ClaimTerms, NewLease, Renewal } from "./internal/storeTypes.ts"
import type { Advance } from "./internal/ticks.ts"
import * as Workers from "./internal/workers.ts"
import type { JobStatus, Lease } from "./Job.ts"
import { SchedulerStore } from "./SchedulerStore.ts"

/** Provides a store in memory. */
export const layer: Layer.Layer<SchedulerStore, never, MemoryBackend> = Layer.effect(
  SchedulerStore,
  Effect.map(MemoryBackend, (memory) => {
    const { access } = memory
    const tables = Tables.make(memory)
    /** Runs `body` with the current time. */
    const accessNow = <A>(body: (now: DateTime.Utc) => A) =>
      Effect.flatMap(DatabaseTime.inMemory, (now) => access(() => body(now)))
    const workers = () => Array.from(tables.workers.values())
    return SchedulerStore.of({
      load: (request) => access(() => Lanes.load(tables, request)),
      peek: (lane, group) => access(() => Lanes.peek(tables, lane, group)),
      apply: (changes, slot) => Effect.flatten(accessNow((now) => Lanes.apply(tables, changes, now, slot))),
      enqueueLeased: (job, lane, terms) =>
        Effect.flatten(accessNow((now) => Direct.enqueueLeased(tables, job, lane, terms, now))),
      end: (lease) => access(() => Direct.end(tables, lease)),
      settleAndClaim: (ended, terms) => Effect.flatten(accessNow((now) => settleAndClaim(tables, ended, terms, now))),
      swap: (limit) => accessNow((now) => Lanes.swap(tables, limit, now)),
      // Units run one after the other.
      lockFree: (lanes) => Effect.succeed(lanes),
      ...delaysOf(tables, accessNow),
      ...claimsOf(tables, accessNow),
      ...schedulesOf(tables, access, accessNow),
      ...leasesOf(tables, access, accessNow),
      isAloneDue: (question) =>
        accessNow((now) =>
          Leases.isAloneDue(tables.queued.values(), workers(), question, Workers.heldAt(workers(), now))
        ),
      checkpoint: (checkpoints) =>
        access(() => changeEach(tables, checkpoints, (job, lease) => Leases.checkpoint(job, lease, lease))),
      release: (leases) => access(() => changeEach(tables, leases, Leases.release)),
      rescue: (terms) =>
        accessNow((now) => {
          const held = Workers.heldAt(workers(), now)
          const { exhausted, requeued } = Leases.rescue(rescuable(tables), terms, held)
          if (Workers.isHeld(held, terms.lease)) {
            for (const worker of Workers.endExpired(workers(), now)) tables.workers.set(worker.id, worker)
          }
          return {
            requeued: putAll(tables, requeued).map(({ group, job, lane }) => ({ job, lane, group })),
            exhausted: putAll(tables, exhausted).map((job) => Leases.toClaimed(job, now))
          }
        }),
      waiting: (age, limit, except) =>
        accessNow((now) =>
          waiting(tables, DateTime.subtractDuration(now, age)).filter(({ job }) => !except.includes(job)).slice(
            0,
            limit
          )
        ),
      find: (ids) => access(() => ids.flatMap((id) => statusOf(tables, id))),
      offers: accessNow((now) => Workers.offers(workers(), now)),
      workers: (selection) => accessNow((now) => Queues.workers(workers(), tables.running.values(), selection, now)),
      lanes: (selection) => access(() => Queues.lanes(tables.lanes.values(), placesOf(tables), selection)),
      queues: accessNow((now) =>
        Queues.queues([...tables.jobs.values()], [...tables.delayed.values()], Workers.offers(workers(), now), now)
      ),
      jobsOf: (selection) => access(() => Forget.jobsOf(tables, selection)),
      forgetLanes: (group, limit) => access(() => Forget.forgetLanes(tables, group, limit)),
      verify: (limit) =>
        access(() => {
          const stored = Lanes.countersOf(tables, Tables.groupIds(tables))
          return Audit.drifts(stored, Audit.recount(stored, tables.jobs.values())).slice(0, limit)
        }),
      groupsAfter: (after, limit) =>
        access(() => Tables.groupIds(tables).filter((group) => group > after).toSorted().slice(0, limit)),
      recount: (groups) => access(() => Lanes.recount(tables, groups))
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Access = MemoryBackend["Service"]["access"]

type AccessNow = <A>(body: (now: DateTime.Utc) => A) => Effect.Effect<A>

/** The methods that claim jobs. */
const claimsOf = (tables: Tables.Tables, accessNow: AccessNow) => ({
  claim: (terms: ClaimTerms) =>
    accessNow((now) => {
      const held = Workers.heldAt(tables.workers.values(), now)
      const { claimed, displaced } = Leases.claim(tables.queued.values(), terms, held)
      putAll(tables, displaced)
      return putAll(tables, claimed).map((job) => Leases.toClaimed(job, now))
    })
})

/** The methods for the leases of workers. */
const leasesOf = ({ running, workers }: Tables.Tables, access: Access, accessNow: AccessNow) => ({
  takeLease: (lease: NewLease) =>
    accessNow((now) => {
      const before = workers.get(lease.id)
      for (const { id } of Workers.findOld(workers.values(), now)) workers.delete(id)
      workers.set(lease.id, Workers.take(before, lease, now))
    }),
  renewLease: (renewal: Renewal) =>
    accessNow((now) => {
      const found = Array.from(workers.values()).find(({ lease }) => lease === renewal.lease)
      const renewed = Workers.renew(found, renewal, now)
      if (Result.isSuccess(renewed)) workers.set(renewed.success.state.id, renewed.success.state)
      return Result.isSuccess(renewed)
    }),
  drain: (id: string, drains: boolean) =>
    accessNow((now) => {
      const found = workers.get(id)
      if (found === undefined || DateTime.isLessThanOrEqualTo(found.until, now)) return false
      workers.set(id, { ...found, drains })
      return true
    }),
  isDrained: (lease: string) =>
    access(() => Array.from(workers.values()).some((worker) => worker.lease === lease && worker.drains)),
  returnLease: (lease: string) =>
    access(() => {
      for (const worker of Array.from(workers.values())) if (worker.lease === lease) workers.delete(worker.id)
    }),
  endLeases: access(() => {
    for (const { id } of Array.from(workers.values())) workers.delete(id)
    return Array.from(running.values()).length
  })
})

/** The methods that read delayed jobs. */
const delaysOf = ({ delayed }: Tables.Tables, accessNow: AccessNow) => ({
  due: (limit: number, except: ReadonlyArray<GroupId>) =>
    accessNow((now) =>
      Delays.dueOnes(delayed.values(), now).filter(({ group }) => !except.includes(group)).slice(0, limit)
    ),
  findDue: (ids: ReadonlyArray<JobId>) =>
    accessNow((now) => Delays.dueOnes(delayed.values(), now).filter(({ job }) => ids.includes(job))),
  dueIn: accessNow((now) => Delays.dueIn(delayed.values(), now))
})

/** The methods for cron schedules. */
const schedulesOf = ({ schedules }: Tables.Tables, access: Access, accessNow: AccessNow) => ({
  schedules: (names: ReadonlyArray<string>) =>
    accessNow((now) => {
      const handled = names.map((name) => schedules.get(name) ?? { name, handledUntil: now })
      for (const schedule of handled) schedules.set(schedule.name, schedule)
      return { now, handled }
    }),
  advance: ({ from, name, to }: Advance) =>
    access(() => {
      if (schedules.get(name)?.handledUntil.epochMilliseconds !== from.epochMilliseconds) return false
      schedules.set(name, { name, handledUntil: to })
      return true
    })
})

const putAll = (tables: Tables.Tables, jobs: ReadonlyArray<Leases.StoredJob>) => {
  jobs.forEach(tables.put)
  return jobs
}

const statusOf = ({ delayed, jobs }: Tables.Tables, id: JobId): ReadonlyArray<JobStatus> => {
  const [job, late] = [jobs.get(id), delayed.get(id)]
  return [...(job === undefined ? [] : [Leases.toStatus(job)]), ...(late === undefined ? [] : [Delays.toStatus(late)])]
}

const placesOf = ({ delayed, jobs }: Tables.Tables) => [
  ...jobs.values(),
  ...Array.from(delayed.values(), Delays.placeOfDelayed)
]

/** Jobs that a rescue may take over. */
const rescuable = ({ queued, running }: Tables.Tables) => [...queued.values(), ...running.values()]

/** Changes the jobs whose lease holds, and returns their ids. */
const changeEach = <L extends Lease>(
  tables: Tables.Tables,
  leases: ReadonlyArray<L>,
  decide: (
    job: Leases.StoredJob | undefined,
    lease: L
  ) => Decision.Decision<Leases.StoredJob, void, LeaseLost>
): ReadonlyArray<JobId> =>
  leases.flatMap((lease) => {
    const decided = decide(tables.jobs.get(lease.job), lease)
    if (Result.isFailure(decided)) return []
    tables.put(decided.success.state)
    return [lease.job]
  })

const waiting = ({ jobs }: Tables.Tables, before: DateTime.Utc) =>
  Array.from(jobs.values())
    .filter(({ enqueuedAt, startedAt }) =>
      startedAt === undefined && enqueuedAt.epochMilliseconds < before.epochMilliseconds
    )
    .toSorted((a, b) => a.enqueuedAt.epochMilliseconds - b.enqueuedAt.epochMilliseconds || Leases.byPosition(a, b))
    .map(Leases.toStatus)
