/** Reads and writes lanes in memory. */
import { StorageError } from "@kinora/persistence/StorageError"
import { DateTime, Effect, Option } from "effect"
import type { ClaimedJob } from "../../Job.ts"
import * as Audit from "../audit.ts"
import type { NewDelayed } from "../delays.ts"
import * as Delays from "../delays.ts"
import type { GroupId, JobId, LaneId } from "../ids.ts"
import type { LanesChanges, PlacedJob, Promotion, Retried } from "../laneChanges.ts"
import { byPosition, claimJob, type StoredJob, toClaimed } from "../leases.ts"
import { emptyLane, type LanesState } from "../loadedLanes.ts"
import { restamp, shareOf } from "../shares.ts"
import { type Applied, type JobSlot, StaleLanes, type StoreRequest, type Swapped } from "../storeTypes.ts"
import * as Swaps from "../swaps.ts"
import { idOf } from "../uniqueKeys.ts"
import { heldAt, offers } from "../workers.ts"
import type { Tables } from "./tables.ts"

/** Reads lanes with their groups, and jobs. Creates missing lanes that are wanted. */
export const load = ({ delayed, groups, jobs, keys, lanes }: Tables, request: StoreRequest): LanesState => {
  for (const { group, isCreated, lane } of request.lanes) {
    if (!isCreated || lanes.has(lane)) continue
    lanes.set(lane, emptyLane(lane, group))
    if (!groups.has(group)) groups.set(group, { group, waiting: 0 })
  }
  return {
    groups: request.groups.flatMap((group) => groups.get(group) ?? []),
    lanes: Array.from(new Set(request.lanes.flatMap(({ lane }) => lanes.get(lane) ?? []))),
    jobs: request.jobs.flatMap((job) => {
      const late = delayed.get(job)
      return jobs.get(job) ?? (late === undefined ? [] : Delays.placeOfDelayed(late))
    }),
    keys: request.keys.map((key) => ({ ...key, job: keys.get(idOf(key)) }))
  }
}

/** Reads the counters of a lane and its group. */
export const peek = ({ groups, lanes }: Tables, lane: LaneId, group: GroupId) => ({
  lane: lanes.get(lane) ?? emptyLane(lane, group),
  group: groups.get(group) ?? { group, waiting: 0 }
})

/** Applies changes, and leases the job of the slot. Dies with `StaleLanes` if the lanes were changed after they were loaded. */
export const apply = (
  tables: Tables,
  changes: LanesChanges,
  now: DateTime.Utc,
  slot?: JobSlot
): Effect.Effect<Applied, StorageError> => {
  if (isStale(tables, changes)) return Effect.die(new StaleLanes())
  for (const { job, state } of changes.ended) {
    if (state === "delayed") tables.delayed.delete(job)
    else tables.remove(job)
  }
  forEachKey(changes.ended, (key) => tables.keys.delete(key))
  for (const job of changes.retried) retry(tables, job, now)
  const duplicate = [...changes.enqueued, ...changes.delayed].find(({ group, job, uniqueKey: key }) =>
    tables.jobs.has(job) || tables.delayed.has(job) || (key !== undefined && tables.keys.has(idOf({ group, key })))
  )
  if (duplicate !== undefined) return Effect.fail(duplicateOf(duplicate))
  for (const job of changes.enqueued) insert(tables, job, now)
  for (const job of changes.delayed) tables.delayed.set(job.job, delayedOf(job, now))
  forEachKey([...changes.enqueued, ...changes.delayed], (key, job) => tables.keys.set(key, job))
  for (const { job, millis } of changes.postponed) {
    const late = tables.delayed.get(job)
    if (late === undefined) continue
    tables.delayed.set(job, { ...late, tryAt: DateTime.addDuration(now, millis), refusals: late.refusals + 1 })
  }
  for (const { after } of changes.groups) tables.groups.set(after.group, after)
  for (const { after } of changes.lanes) tables.lanes.set(after.lane, after)
  const restamped = changes.restamped.flatMap((lane) => restamp(tables.heldIn(lane.lane).values(), lane))
  restamped.forEach(tables.put)
  const promoted = promote(tables, changes.promotions, offeredAt(tables, now))
  return Effect.succeed({
    promoted: promoted.map(({ job }) => job),
    restamped: restamped.length,
    kinds: [...restamped, ...promoted].map(({ kind }) => kind),
    handed: slot && handOver(tables, slot, now)
  })
}

/** Exchanges queued jobs that no worker claims with pending jobs that a worker claims. */
export const swap = (tables: Tables, limit: number, now: DateTime.Utc): Swapped => {
  const swaps = Swaps.swap(tables.jobs.values(), offeredAt(tables, now), limit, tables.nextPosition)
  for (const { displaced, promoted } of swaps) [displaced, promoted].forEach(tables.put)
  for (const lane of new Set(swaps.map(({ promoted }) => promoted.lane))) {
    const { weight = 1 } = tables.lanes.get(lane) ?? {}
    restamp(tables.heldIn(lane).values(), { limit: undefined, weight }).forEach(tables.put)
  }
  return {
    promoted: swaps.map(({ promoted }) => addressOf(promoted)),
    displaced: swaps.map(({ displaced }) => addressOf(displaced))
  }
}

/** Counters of groups and their lanes, as stored and as counted from the jobs. */
export const recount = (tables: Tables, ids: ReadonlyArray<GroupId>): LanesState => {
  const stored = countersOf(tables, ids)
  return { ...stored, jobs: [], recount: Audit.recount(stored, tables.jobs.values()) }
}

/** Stored counters of groups and their lanes. */
export const countersOf = ({ groups, lanes }: Tables, ids: ReadonlyArray<GroupId>): Audit.Counters => ({
  groups: ids.flatMap((group) => groups.get(group) ?? []),
  lanes: Array.from(lanes.values()).filter(({ group }) => ids.includes(group))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isStale = (tables: Tables, { ended, groups, lanes, retried }: LanesChanges): boolean =>
  [...ended, ...retried].some(({ epoch, job, state }) => {
    if (state === "delayed") return !tables.delayed.has(job)
    const stored = tables.jobs.get(job)
    return stored?.state !== state || stored.epoch !== epoch
  }) ||
  groups.some(({ before }) => tables.groups.get(before.group)?.waiting !== before.waiting) ||
  lanes.some(({ before }) => {
    const stored = tables.lanes.get(before.lane)
    return stored?.cap !== before.cap || stored.held !== before.held || stored.waiting !== before.waiting
  })

/** Calls a function with the unique keys of those jobs that have one. */
const forEachKey = (
  jobs: ReadonlyArray<{ readonly job: JobId; readonly group: GroupId; readonly uniqueKey: string | undefined }>,
  body: (key: string, job: JobId) => void
) => {
  for (const { group, job, uniqueKey: key } of jobs) if (key !== undefined) body(idOf({ group, key }), job)
}

const duplicateOf = ({ job }: PlacedJob | NewDelayed) =>
  new StorageError({
    operation: "SchedulerStore.apply",
    reason: "failed",
    cause: new Error(`The job ${job} or its unique key exists already`)
  })

const delayedOf = ({ due, ...job }: NewDelayed, now: DateTime.Utc) => {
  const dueAt = due.at ?? DateTime.addDuration(now, due.millis)
  return { ...job, enqueuedAt: now, dueAt, tryAt: dueAt, refusals: 0, failures: 0, checkpoint: Option.none() }
}

const retry = (tables: Tables, { job: id, millis }: Retried, now: DateTime.Utc) => {
  const found = tables.jobs.get(id)
  if (found === undefined) return
  const { attemptsMax, checkpoint, enqueuedAt, epoch, failures, group, job, kind, lane, payload, timeLimit } = found
  const { priority, uniqueKey } = found
  const kept = {
    job,
    lane,
    group,
    epoch,
    kind,
    priority,
    payload,
    attemptsMax,
    timeLimit,
    checkpoint,
    enqueuedAt,
    uniqueKey
  }
  const dueAt = DateTime.addDuration(now, millis)
  tables.remove(id)
  tables.delayed.set(id, { ...kept, waitingMax: undefined, dueAt, tryAt: dueAt, refusals: 0, failures: failures + 1 })
}

const insert = (tables: Tables, job: PlacedJob, now: DateTime.Utc) =>
  tables.put({
    ...job,
    attempt: 0,
    resumable: false,
    enqueuedAt: now,
    startedAt: undefined,
    lease: undefined,
    leaseUntil: undefined,
    aloneFrom: undefined,
    worker: undefined,
    position: tables.nextPosition(),
    ownPosition: undefined
  })

const handOver = (tables: Tables, slot: JobSlot, now: DateTime.Utc): ClaimedJob | undefined => {
  const leased = claimJob(tables.jobs.get(slot.job), slot, heldAt(tables.workers.values(), now))
  if (leased === undefined) return undefined
  tables.put(leased)
  return toClaimed(leased, now)
}

const offeredAt = ({ workers }: Tables, now: DateTime.Utc) => Swaps.offeredKinds(offers(workers.values(), now))

const addressOf = ({ group, job, lane }: StoredJob) => ({ job, lane, group })

/** Positions follow the order in which the jobs of all lanes were enqueued. */
const promote = (
  tables: Tables,
  promotions: ReadonlyArray<Promotion>,
  offered: ReadonlySet<string>
): ReadonlyArray<StoredJob> => {
  const placed = promotions.flatMap((promotion) => promoteIn(tables, promotion, offered))
  for (const { job, share } of placed.toSorted((a, b) => byPosition(a.job, b.job))) {
    tables.put({ ...job, state: "queued", share, position: tables.nextPosition() })
  }
  return placed.filter(({ isPromoted }) => isPromoted).map(({ job }) => job)
}

const promoteIn = (
  tables: Tables,
  { ahead, beside, count, lane, weight }: Promotion,
  offered: ReadonlySet<string>
) => {
  const promoted = Swaps.nextInLine(tables.pendingIn(lane).values(), offered, count)
  const inLine = [...promoted, ...beside.flatMap((job) => tables.jobs.get(job) ?? [])].toSorted(byPosition)
  return inLine.map((job, index) => ({
    job,
    share: shareOf(ahead + index, weight),
    isPromoted: promoted.includes(job)
  }))
}
