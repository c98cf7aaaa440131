/** Jobs and lanes in this process's memory. */
import { StorageError } from "@kinora/persistence/StorageError"
import { MemoryBackend, type MemoryMap } from "@kinora/persistence/UnitOfWork"
import { type DateTime, Duration, Effect, Layer, Option, type Schema } from "effect"
import {
  type GroupCounters,
  type LaneCounters,
  LaneMoved,
  type LanesChanges,
  type LanesState,
  type NewJob,
  type Promotion,
  StaleLanes
} from "./internal/loadedLanes.ts"
import type { ClaimedJob, GroupId, JobAddress, JobId, JobState, JobStatus, LaneId, Lease } from "./Job.ts"
import { type Drift, type LeaseTerms, SchedulerStore } from "./SchedulerStore.ts"

/** A store in memory. */
export const layer: Layer.Layer<SchedulerStore, never, MemoryBackend> = Layer.effect(
  SchedulerStore,
  Effect.gen(function*() {
    const memory = yield* MemoryBackend
    const groups = memory.makeMap<string, number>()
    const lanes = memory.makeMap<string, LaneCounters>()
    const jobs = memory.makeMap<JobId, StoredJob>()
    // One index per state, so that those who wait for a slot cost a claim nothing.
    const pending = new Map<LaneId, MemoryMap<JobId, StoredJob>>()
    const queued = memory.makeMap<JobId, StoredJob>()
    const running = memory.makeMap<JobId, StoredJob>()
    // Like a database's sequence, it does not go back when a unit rolls back.
    let lastPosition = 0

    const pendingIn = (lane: LaneId) => {
      const found = pending.get(lane) ?? memory.makeMap<JobId, StoredJob>()
      pending.set(lane, found)
      return found
    }
    const indexOf = ({ lane, state }: StoredJob) =>
      state === "pending" ? pendingIn(lane) : state === "queued" ? queued : running
    const remove = (job: JobId) => {
      const found = jobs.get(job)
      if (found !== undefined) indexOf(found).delete(job)
      jobs.delete(job)
    }
    const put = (job: StoredJob) => {
      remove(job.job)
      jobs.set(job.job, job)
      indexOf(job).set(job.job, job)
    }
    const held = ({ epoch, job }: Lease): StoredJob | undefined => {
      const found = jobs.get(job)
      return found?.state === "running" && found.epoch === epoch ? found : undefined
    }
    /** Changes the jobs whose lease holds, and answers their ids. */
    const changeHeld = <L extends Lease>(leases: ReadonlyArray<L>, change: (job: StoredJob, lease: L) => StoredJob) =>
      leases.flatMap((lease) => {
        const found = held(lease)
        if (found === undefined) return []
        put(change(found, lease))
        return [lease.job]
      })
    /** The lanes with their jobs counted instead of their counters. */
    const countLanes = (): ReadonlyArray<LaneCounters> => {
      const held = new Map<LaneId, number>()
      for (const { lane, state } of jobs.values()) {
        if (state !== "pending") held.set(lane, (held.get(lane) ?? 0) + 1)
      }
      return Array.from(lanes.values(), (lane) => {
        const found = held.get(lane.lane) ?? 0
        return { ...lane, held: found, waiting: pendingIn(lane.lane).size(), heldMax: Math.max(lane.cap, found) }
      })
    }
    const insert = (job: NewJob, now: DateTime.Utc) =>
      put({
        ...job,
        epoch: 0,
        attempt: 0,
        checkpoint: Option.none(),
        enqueuedAt: now,
        startedAt: undefined,
        leaseUntil: undefined,
        worker: undefined,
        position: ++lastPosition
      })

    const promote = ({ beside, count, lane }: Promotion) => {
      const promoted = Array.from(pendingIn(lane).values()).toSorted(byPosition).slice(0, count)
      const inLine = [...promoted, ...beside.flatMap((job) => jobs.get(job) ?? [])].toSorted(byPosition)
      for (const job of inLine) put({ ...job, state: "queued", position: ++lastPosition })
      return promoted
    }

    const isStale = ({ ended, groups: changedGroups, lanes: changedLanes }: LanesChanges) =>
      ended.some(({ epoch, job, state }) => jobs.get(job)?.state !== state || jobs.get(job)?.epoch !== epoch) ||
      changedGroups.some(({ before }) => groups.get(before.group) !== before.waiting) ||
      changedLanes.some(({ before }) => {
        const stored = lanes.get(before.lane)
        return stored?.cap !== before.cap || stored.held !== before.held || stored.waiting !== before.waiting
      })

    return SchedulerStore.of({
      load: (request) =>
        memory.access(() => {
          for (const group of request.groups) if (!groups.has(group)) groups.set(group, 0)
          for (const { group, lane } of request.lanes) {
            const found = lanes.get(lane)
            if (found === undefined) lanes.set(lane, { lane, group, cap: 0, held: 0, waiting: 0, heldMax: 0 })
            else if (found.group !== group) throw new LaneMoved(lane, found.group, group)
          }
          return {
            groups: request.groups.map((group) => ({ group, waiting: groups.get(group) ?? 0 })),
            lanes: request.lanes.flatMap(({ lane }) => lanes.get(lane) ?? []),
            jobs: request.jobs.flatMap((job) => jobs.get(job) ?? [])
          }
        }),

      apply: (changes, now) =>
        Effect.flatten(memory.access(() => {
          if (isStale(changes)) throw new StaleLanes()
          for (const { job } of changes.ended) remove(job)
          const twice = changes.enqueued.find(({ job }) => jobs.has(job))
          if (twice !== undefined) {
            return Effect.fail(
              new StorageError({
                operation: "SchedulerStore.apply",
                reason: "failed",
                cause: new Error(`The job ${twice.job} exists already`)
              })
            )
          }
          for (const job of changes.enqueued) insert(job, now)
          for (const { after } of changes.groups) groups.set(after.group, after.waiting)
          for (const { after } of changes.lanes) lanes.set(after.lane, after)
          return Effect.succeed(changes.promotions.flatMap(promote).map(({ job }) => job))
        })),

      claim: (terms) =>
        memory.access(() =>
          Array.from(queued.values()).filter((job) => terms.kinds.includes(job.kind)).toSorted(byPosition)
            .slice(0, terms.limit).map((job) => {
              const claimed = leased({ ...job, attempt: job.attempt + 1 }, terms)
              put(claimed)
              return toClaimed(claimed)
            })
        ),

      heartbeat: (leases, until) => memory.access(() => changeHeld(leases, (job) => ({ ...job, leaseUntil: until }))),

      checkpoint: (checkpoints) =>
        memory.access(() =>
          changeHeld(checkpoints, (job, { checkpoint }) => ({ ...job, checkpoint: Option.fromNullishOr(checkpoint) }))
        ),

      release: (leases) =>
        memory.access(() => changeHeld(leases, (job) => ({ ...requeued(job), attempt: job.attempt - 1 }))),

      rescue: (terms) =>
        memory.access(() => {
          const lost = Array.from(running.values())
            .filter((job) => millis(job.leaseUntil) <= millis(terms.now) && terms.kinds.includes(job.kind))
            .toSorted((a, b) => millis(a.leaseUntil) - millis(b.leaseUntil))
            .slice(0, terms.limit)
          const exhausted = lost.filter((job) => job.attempt >= job.attemptsMax).map((job) => leased(job, terms))
          const again = lost.filter((job) => job.attempt < job.attemptsMax).map(requeued)
          exhausted.forEach(put)
          again.forEach(put)
          return { requeued: again.map(toAddress), exhausted: exhausted.map(toClaimed) }
        }),

      expireFirstLeases: (now) =>
        memory.access(() => {
          const held = Array.from(running.values()).filter((job) =>
            job.attempt === 1 && millis(job.leaseUntil) > millis(now)
          )
          for (const job of held) put({ ...job, leaseUntil: now })
          return held.length
        }),

      waitingSince: (before, limit, except) =>
        memory.access(() =>
          Array.from(jobs.values())
            .filter((job) => job.epoch === 0 && millis(job.enqueuedAt) < millis(before) && !except.includes(job.job))
            .toSorted((a, b) => millis(a.enqueuedAt) - millis(b.enqueuedAt) || a.position - b.position)
            .slice(0, limit).map(toStatus)
        ),

      find: (ids) => memory.access(() => ids.flatMap((id) => jobs.get(id) ?? []).map(toStatus)),

      verify: (limit) =>
        memory.access(() => {
          const counted = countLanes()
          const drifts = counted.flatMap(({ held, lane, waiting }): Array<Drift> => {
            const stored = lanes.get(lane)
            const heldMax = stored?.heldMax ?? 0
            return [
              { of: "lane", id: lane, counter: "held", stored: stored?.held ?? 0, found: held },
              { of: "lane", id: lane, counter: "heldMax", stored: heldMax, found: Math.max(heldMax, held) },
              { of: "lane", id: lane, counter: "waiting", stored: stored?.waiting ?? 0, found: waiting }
            ]
          })
          for (const { group, waiting } of sumByGroup(counted)) {
            drifts.push({ of: "group", id: group, counter: "waiting", stored: groups.get(group) ?? 0, found: waiting })
          }
          return drifts.filter(({ found, stored }) => found !== stored)
            .toSorted((a, b) =>
              a.of.localeCompare(b.of) || a.id.localeCompare(b.id) || a.counter.localeCompare(b.counter)
            )
            .slice(0, limit)
        }),

      groupsAfter: (after, limit) =>
        memory.access(() =>
          sumByGroup(lanes.values()).map(({ group }) => group).filter((group) => group > after)
            .toSorted().slice(0, limit)
        ),

      recount: (ids) =>
        memory.access((): LanesState => {
          const counted = countLanes().filter(({ group }) => ids.includes(group))
          return {
            groups: ids.map((group) => ({ group, waiting: groups.get(group) ?? 0 })),
            lanes: counted.flatMap(({ lane }) => lanes.get(lane) ?? []),
            jobs: [],
            recount: { groups: sumByGroup(counted), lanes: counted }
          }
        })
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A job as it is kept. */
interface StoredJob extends NewJobFields {
  readonly state: JobState
  readonly checkpoint: Option.Option<Schema.Json>
  readonly epoch: number
  readonly attempt: number
  readonly enqueuedAt: DateTime.Utc
  readonly startedAt: DateTime.Utc | undefined
  readonly leaseUntil: DateTime.Utc | undefined
  readonly worker: string | undefined
  /** Among pending jobs the order of enqueuing, among queued ones the order of getting a slot. */
  readonly position: number
}

type NewJobFields = Omit<NewJob, "state">

const byPosition = (a: StoredJob, b: StoredJob) => a.position - b.position

const millis = (time: DateTime.Utc | undefined) => time?.epochMilliseconds ?? 0

const leased = (job: StoredJob, { now, until, worker }: LeaseTerms): StoredJob => ({
  ...job,
  state: "running",
  epoch: job.epoch + 1,
  startedAt: job.startedAt ?? now,
  leaseUntil: until,
  worker
})

/** Keeps its position, so it stands before all that were queued after it. */
const requeued = (job: StoredJob): StoredJob => ({ ...job, state: "queued", leaseUntil: undefined })

const toAddress = ({ group, job, lane }: StoredJob): JobAddress => ({ job, lane, group })

const toClaimed = (job: StoredJob): ClaimedJob => ({
  ...toAddress(job),
  kind: job.kind,
  payload: job.payload,
  checkpoint: job.checkpoint,
  epoch: job.epoch,
  attempt: job.attempt,
  attemptsMax: job.attemptsMax,
  enqueuedAt: job.enqueuedAt,
  startedAt: job.startedAt ?? job.enqueuedAt,
  timeLimit: Option.map(Option.fromUndefinedOr(job.timeLimit), Duration.millis)
})

const toStatus = (job: StoredJob): JobStatus => ({
  ...toAddress(job),
  kind: job.kind,
  state: job.state,
  epoch: job.epoch,
  attempt: job.attempt,
  enqueuedAt: job.enqueuedAt,
  worker: Option.fromUndefinedOr(job.worker)
})

const sumByGroup = (lanes: Iterable<LaneCounters>): ReadonlyArray<GroupCounters> => {
  const sums = new Map<GroupId, number>()
  for (const { group, waiting } of lanes) sums.set(group, (sums.get(group) ?? 0) + waiting)
  return Array.from(sums, ([group, waiting]) => ({ group, waiting }))
}
