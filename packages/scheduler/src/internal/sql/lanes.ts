/** Statements that lock lanes and jobs, so that a unit can decide on them. */
import * as Pipelining from "@kinora/persistence/Pipelining"
import * as Rows from "@kinora/persistence/Rows"
import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { GroupId, JobId, LaneId } from "../ids.ts"
import type { LanesState } from "../loadedLanes.ts"
import type { StoreRequest } from "../storeTypes.ts"
import type { UniqueKey } from "../uniqueKeys.ts"
import * as Delays from "./delays.ts"
import * as JobIds from "./jobIds.ts"
import { decodePlaces, placeColumns } from "./rows.ts"

/**
 * Locks and reads lanes with their groups, and then jobs, in one network write if the transaction pipelines. Creates missing
 * lanes that are wanted. As long as one is missing, neither lanes nor jobs are locked, since a unit that has locked jobs before
 * their lanes waits for one that has the lanes, and the other way round.
 */
export const load = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, request: StoreRequest) {
  const { groups, lanes } = request
  const found = yield* lockAndRead(sql, request, allExist(sql, lanes))
  if (found.lanes.length === lanes.length) return yield* withDelayed(sql, request, found)
  const created = lanes.filter(({ isCreated }) => isCreated)
  yield* createAndLockGroups(sql, groups, created)
  const [, complete] = yield* Pipelining.both(insertLanes(sql, created), lockAndRead(sql, request))
  return yield* withDelayed(sql, request, complete)
})

/** Locks lanes and their groups in the order of `load`, but waits for none. Returns the lanes that were not locked. */
export const lockFree = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, lanes: ReadonlyArray<LaneId>) {
  const rows = yield* decodeFree(sql`
    SELECT lane.id AS lane
    FROM scheduler_group AS lane_group
    JOIN scheduler_lane AS lane ON lane.group_id = lane_group.id
    WHERE lane.id = ANY(${Rows.array("text", lanes)})
    ORDER BY lane.group_id, lane.id
    FOR UPDATE OF lane_group, lane SKIP LOCKED
  `)
  return rows.map(({ lane }) => lane)
})

/** Reads the counters of a lane and its group without locks. */
export const peek = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, lane: LaneId, group: GroupId) {
  const [row] = yield* decodePeek(sql`
    SELECT
      coalesce(lane.cap, 0) AS cap, coalesce(lane.held, 0) AS held, coalesce(lane.waiting, 0) AS waiting,
      coalesce(lane.held_max, 0) AS "heldMax", coalesce(lane.weight, 1) AS weight,
      coalesce(lane_group.waiting, 0) AS "groupWaiting"
    FROM (VALUES (1)) AS one_row
    LEFT JOIN scheduler_lane AS lane ON lane.id = ${lane}
    LEFT JOIN scheduler_group AS lane_group ON lane_group.id = ${group}
  `)
  const { groupWaiting, ...counters } = row!
  return { lane: { ...counters, lane, group }, group: { group, waiting: groupWaiting } }
})

/** Counters of a lane. */
export const laneFields = {
  lane: Schema.String,
  group: Schema.String,
  cap: Schema.Int,
  held: Schema.Int,
  waiting: Schema.Int,
  heldMax: Schema.Int,
  weight: Schema.Int
}

/** The statement that reads which jobs hold unique keys. Subqueries, so that it reads an index also before the tables were analyzed. */
export const holdersStatement = (sql: SqlClient.SqlClient, keys: ReadonlyArray<UniqueKey>) =>
  sql`
    SELECT
      wanted.group_id AS "group", wanted.key,
      coalesce(
        (
          SELECT ${sql.literal(JobIds.idInSql)} FROM scheduler_job AS job
          WHERE job.group_id = wanted.group_id AND job.unique_key = wanted.key
        ),
        (
          SELECT ${sql.literal(JobIds.idInSql)} FROM scheduler_delayed AS job
          WHERE job.group_id = wanted.group_id AND job.unique_key = wanted.key
        )
      ) AS job
    FROM ${Rows.table("wanted", keys, keyColumns)}
  `

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Locks lanes, and then reads what does not change under their locks, if the condition holds. */
const lockAndRead = (sql: SqlClient.SqlClient, { jobs, keys, lanes }: StoreRequest, condition = sql``) =>
  Effect.map(
    Pipelining.both(
      lockLanes(sql, lanes, condition),
      Pipelining.both(lockJobs(sql, jobs, condition), findHolders(sql, keys))
    ),
    ([rows, [jobs, keys]]): LanesState => ({
      groups: Array.from(
        new Map(rows.map(({ group, groupWaiting }) => [group, groupWaiting])),
        ([group, waiting]) => ({ group, waiting })
      ),
      lanes: rows,
      jobs,
      keys
    })
  )

/** Adds those of the jobs that are delayed, which cannot change under the lock of their lanes. */
const withDelayed = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, { jobs }: StoreRequest, found: LanesState) {
  if (found.jobs.length === jobs.length) return found
  const ids = new Set(found.jobs.map(({ job }) => job))
  return { ...found, jobs: [...found.jobs, ...yield* Delays.lock(sql, jobs.filter((job) => !ids.has(job)))] }
})

/**
 * Locks groups before lanes, each in id order, so that two units that share a lane wait at
 * its group instead of deadlocking. Returns the rows as they are after they were locked.
 */
const lockLanes = (sql: SqlClient.SqlClient, lanes: StoreRequest["lanes"], condition: Statement.Fragment = sql``) =>
  decodeLanes(sql`
    SELECT
      lane.id AS lane, lane.group_id AS "group", lane.cap, lane.held, lane.waiting, lane.held_max AS "heldMax",
      lane.weight, lane_group.waiting AS "groupWaiting"
    FROM scheduler_group AS lane_group
    JOIN scheduler_lane AS lane ON lane.group_id = lane_group.id
    WHERE lane.id = ANY(${Rows.array("text", lanes.map(({ lane }) => lane))})
      ${condition}
    ORDER BY lane.group_id, lane.id
    FOR UPDATE OF lane_group, lane
  `)

/** Nothing is locked if a lane is missing, since the groups to create may come before the others. */
const allExist = (sql: SqlClient.SqlClient, lanes: StoreRequest["lanes"]) =>
  sql`
      AND ${lanes.length} = (
        SELECT count(*) FROM scheduler_lane WHERE id = ANY(${Rows.array("text", lanes.map(({ lane }) => lane))})
      )`

const decodeLanes = Rows.decodeAll(Schema.Struct({ ...laneFields, groupWaiting: Schema.Int }))

const decodeFree = Rows.decodeAll(Schema.Struct({ lane: Schema.String }))

const decodePeek = Rows.decodeAll(
  Schema.Struct({
    cap: Schema.Int,
    held: Schema.Int,
    waiting: Schema.Int,
    heldMax: Schema.Int,
    weight: Schema.Int,
    groupWaiting: Schema.Int
  })
)

const createGroups = (sql: SqlClient.SqlClient, groups: ReadonlyArray<GroupId>) =>
  groups.length === 0 ? Effect.void : sql`
    INSERT INTO scheduler_group (id, waiting)
    SELECT id, 0 FROM ${Rows.table("wanted", groups, { id: ["text", (group) => group] })}
    ORDER BY id COLLATE "C"
    ON CONFLICT (id) DO NOTHING
  `.pipe(Effect.asVoid)

/**
 * Locks groups, and creates those of lanes to create. A group that exists may be deleted before it is locked, and is created
 * again.
 */
const createAndLockGroups = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, groups: ReadonlyArray<GroupId>, created: StoreRequest["lanes"]) {
    const wanted = Array.from(new Set(created.map(({ group }) => group)))
    let locked: ReadonlySet<string>
    do {
      const [, rows] = yield* Pipelining.both(createGroups(sql, wanted), lockGroups(sql, groups))
      locked = new Set(rows.map(({ id }) => id))
    } while (wanted.some((group) => !locked.has(group)))
  }
)

/**
 * Locks groups before lanes are inserted. The foreign key of an inserted lane takes a share
 * lock on its group, so two units that insert lanes of one group would deadlock otherwise.
 */
const lockGroups = (sql: SqlClient.SqlClient, groups: ReadonlyArray<GroupId>) =>
  decodeIds(sql`
    SELECT id FROM scheduler_group
    WHERE id = ANY(${Rows.array("text", groups)})
    ORDER BY id
    FOR UPDATE
  `)

const decodeIds = Rows.decodeAll(Schema.Struct({ id: Schema.String }))

const insertLanes = (sql: SqlClient.SqlClient, lanes: StoreRequest["lanes"]) =>
  lanes.length === 0 ? Effect.void : sql`
    INSERT INTO scheduler_lane (id, group_id, cap, held, waiting)
    SELECT id, group_id, 0, 0, 0
    FROM ${
    Rows.table("wanted", lanes, {
      id: ["text", ({ lane }) => lane],
      group_id: ["text", ({ group }) => group]
    })
  }
    ORDER BY id COLLATE "C"
    ON CONFLICT (id) DO NOTHING
  `.pipe(Effect.asVoid)

/** Locks jobs that are not delayed, if the condition holds. */
const lockJobs = (sql: SqlClient.SqlClient, jobs: ReadonlyArray<JobId>, condition: Statement.Fragment) =>
  jobs.length === 0 ? Effect.succeed([]) : decodePlaces(sql`
    SELECT ${sql.literal(placeColumns)} FROM scheduler_job AS job
    WHERE job.id = ANY(${JobIds.keys(jobs)}) ${condition}
    ORDER BY job.id
    FOR UPDATE
  `)

/** The jobs that hold unique keys. They do not change while the groups are locked. */
const findHolders = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, keys: ReadonlyArray<UniqueKey>) {
  if (keys.length === 0) return []
  const rows = yield* decodeHolders(holdersStatement(sql, keys))
  return rows.map(({ job, ...key }) => ({ ...key, job: job ?? undefined }))
})

const keyColumns: Rows.Columns<UniqueKey> = {
  group_id: ["text", ({ group }) => group],
  key: ["text", ({ key }) => key]
}

const decodeHolders = Rows.decodeAll(
  Schema.Struct({ group: Schema.String, key: Schema.String, job: Schema.NullOr(Schema.String) })
)
