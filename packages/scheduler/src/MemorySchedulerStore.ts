/** Stores lanes and jobs in the memory of this process. */
import type * as Decision from "@kinora/persistence/Decision"
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { type DateTime, Effect, Layer, Result } from "effect"
import * as Audit from "./internal/audit.ts"
import type { JobId } from "./internal/ids.ts"
import * as Leases from "./internal/leases.ts"
import * as Lanes from "./internal/memory/lanes.ts"
import * as Tables from "./internal/memory/tables.ts"
import * as Queues from "./internal/queues.ts"
import type { Lease } from "./Job.ts"
import type { LeaseLost } from "./SchedulerError.ts"
import { SchedulerStore } from "./SchedulerStore.ts"

/** Provides a store in memory. */
export const layer: Layer.Layer<SchedulerStore, never, MemoryBackend> = Layer.effect(
  SchedulerStore,
  Effect.map(MemoryBackend, (memory) => {
    const { access } = memory
    const tables = Tables.make(memory)
    return SchedulerStore.of({
      load: (request) => access(() => Lanes.load(tables, request)),
      apply: (changes, now) => Effect.flatten(access(() => Lanes.apply(tables, changes, now))),
      claim: (terms) => access(() => putAll(tables, Leases.claim(tables.queued.values(), terms)).map(Leases.toClaimed)),
      heartbeat: (leases, until) =>
        access(() => changeEach(tables, leases, (job, lease) => Leases.heartbeat(job, lease, until))),
      checkpoint: (checkpoints) =>
        access(() => changeEach(tables, checkpoints, (job, lease) => Leases.checkpoint(job, lease, lease.checkpoint))),
      release: (leases) => access(() => changeEach(tables, leases, Leases.release)),
      rescue: (terms) =>
        access(() => {
          const { exhausted, requeued } = Leases.rescue(rescuable(tables), terms)
          return {
            requeued: putAll(tables, requeued).map(({ group, job, lane }) => ({ job, lane, group })),
            exhausted: putAll(tables, exhausted).map(Leases.toClaimed)
          }
        }),
      expireFirstLeases: (now) => access(() => putAll(tables, Leases.expireFirst(tables.running.values(), now)).length),
      waitingSince: (before, limit, except) =>
        access(() => waitingSince(tables, before).filter(({ job }) => !except.includes(job)).slice(0, limit)),
      find: (ids) => access(() => ids.flatMap((id) => tables.jobs.get(id) ?? []).map(Leases.toStatus)),
      announce: (offer, now) =>
        access(() => {
          for (const other of tables.offers.values()) {
            if (Queues.isOld(other, now)) tables.offers.delete(other.id)
          }
          tables.offers.set(offer.id, offer)
        }),
      retract: (id) =>
        access(() => {
          tables.offers.delete(id)
        }),
      offers: (now) => access(() => Queues.held([...tables.offers.values()], now)),
      queues: (now) => access(() => Queues.queues([...tables.jobs.values()], [...tables.offers.values()], now)),
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

const putAll = (tables: Tables.Tables, jobs: ReadonlyArray<Leases.StoredJob>) => {
  jobs.forEach(tables.put)
  return jobs
}

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

const waitingSince = ({ jobs }: Tables.Tables, before: DateTime.Utc) =>
  Array.from(jobs.values())
    .filter(({ enqueuedAt, epoch }) => epoch === 0 && enqueuedAt.epochMilliseconds < before.epochMilliseconds)
    .toSorted((a, b) => a.enqueuedAt.epochMilliseconds - b.enqueuedAt.epochMilliseconds || Leases.byPosition(a, b))
    .map(Leases.toStatus)
