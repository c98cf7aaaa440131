/** Jobs and lanes in Postgres. Every operation takes one statement per table, whatever the size of its set. */
import type { Migrations } from "@kinora/persistence/Migrations"
import { mapSql } from "@kinora/persistence/StorageError"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Schemas from "./internal/migrations.ts"
import * as Rows from "./internal/rows.ts"
import * as Statements from "./internal/statements.ts"
import type { GroupId, JobId, Lease } from "./Job.ts"
import type { LanesChanges, Promotion } from "./Lanes.ts"
import { LaneMoved, type LoadRequest, SchedulerStore } from "./SchedulerStore.ts"

/** The tables of this package. */
export const migrations: Migrations = {
  namespace: "scheduler",
  migrations: { "0001_lanes_and_jobs": Schemas.lanesAndJobs }
}

/** A store in a database with the schema of `migrations`; runs no DDL of its own. */
export const layer: Layer.Layer<SchedulerStore, never, SqlClient.SqlClient> = Layer.effect(
  SchedulerStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const placeColumns = sql.literal(`${Statements.addressColumns}, job.state, job.epoch`)
    const statusColumns = sql.literal(
      `${Statements.addressColumns}, job.kind, job.state, job.epoch, job.attempt, job.enqueued_at AS "enqueuedAt", job.worker`
    )
    /**
     * Every lane is locked after its group, and groups in the order of their ids: then
     * units that open lanes in common meet at a group. The rows are read as they are
     * once they are locked, so what is decided on them needs no second look.
     */
    const lock = (lanes: LoadRequest["lanes"]) =>
      laneRows(sql`
        SELECT
          lane.id AS lane, lane.group_id AS "group", lane.cap, lane.held, lane.waiting,
          lane_group.waiting AS "groupWaiting"
        FROM scheduler_group AS lane_group
        JOIN scheduler_lane AS lane ON lane.group_id = lane_group.id
        WHERE lane.id = ANY(${lanes.map(({ lane }) => lane)}::text[])
        ORDER BY lane.group_id, lane.id
        FOR UPDATE OF lane_group, lane
      `)

    /**
     * Making one while others are locked can meet a unit that does the reverse. The
     * database then undoes one of the two, and its unit runs again.
     */
    const create = Effect.fnUntraced(function*(
      groups: LoadRequest["groups"],
      lanes: LoadRequest["lanes"]
    ) {
      yield* sql`
        INSERT INTO scheduler_group (id, waiting)
        SELECT id, 0 FROM unnest(${groups}::text[]) AS wanted (id) ORDER BY id COLLATE "C"
        ON CONFLICT (id) DO NOTHING
      `
      yield* sql`
        INSERT INTO scheduler_lane (id, group_id, cap, held, waiting)
        SELECT id, group_id, 0, 0, 0
        FROM unnest(${lanes.map(({ lane }) => lane)}::text[], ${lanes.map(({ group }) => group)}::text[])
          AS wanted (id, group_id)
        ORDER BY id COLLATE "C"
        ON CONFLICT (id) DO NOTHING
      `
    })

    const load = Effect.fnUntraced(function*({ groups, jobs, lanes }: LoadRequest) {
      let rows = yield* lock(lanes)
      if (rows.length < lanes.length) {
        yield* create(groups, lanes)
        rows = yield* lock(lanes)
      }
      const groupOf = new Map(lanes.map(({ group, lane }) => [lane, group]))
      for (const { group, lane } of rows) {
        const wanted = groupOf.get(lane)
        if (wanted !== undefined && wanted !== group) return yield* Effect.die(new LaneMoved(lane, group, wanted))
      }
      const places = jobs.length === 0 ? [] : yield* placeRows(sql`
        SELECT ${placeColumns}
        FROM scheduler_job AS job
        WHERE job.id = ANY(${jobs}::uuid[])
        ORDER BY job.id
        FOR UPDATE
      `)
      return {
        groups: Array.from(
          new Map(rows.map(({ group, groupWaiting }) => [group, groupWaiting])),
          ([group, waiting]) => ({ group, waiting })
        ),
        lanes: rows,
        jobs: places
      }
    })

    /**
     * Adds jobs and sets counters. An array of nothing but nulls has no type for the
     * driver, so '' stands for none.
     */
    const write = ({ enqueued, groups, lanes }: LanesChanges, now: DateTime.Utc) =>
      sql`
        WITH added AS (
          INSERT INTO scheduler_job (
            id, lane_id, group_id, kind, payload, state, attempts_max, time_limit_ms, enqueued_at
          )
          SELECT id, lane_id, group_id, kind, payload::json, state, attempts_max, nullif(time_limit_ms, '')::int8,
            ${DateTime.toDate(now)}
          FROM unnest(
            ${enqueued.map(({ job }) => job)}::uuid[],
            ${enqueued.map(({ lane }) => lane)}::text[],
            ${enqueued.map(({ group }) => group)}::text[],
            ${enqueued.map(({ kind }) => kind)}::text[],
            ${enqueued.map(({ payload }) => JSON.stringify(payload))}::text[],
            ${enqueued.map(({ state }) => state)}::text[],
            ${enqueued.map(({ attemptsMax }) => attemptsMax)}::int4[],
            ${enqueued.map(({ timeLimit }) => timeLimit === undefined ? "" : String(timeLimit))}::text[]
          ) WITH ORDINALITY
            AS new (id, lane_id, group_id, kind, payload, state, attempts_max, time_limit_ms, place)
          -- Positions are drawn in this order.
          ORDER BY place
        ), counted_groups AS (
          UPDATE scheduler_group AS lane_group SET waiting = counted.waiting
          FROM unnest(
            ${groups.map(({ group }) => group)}::text[],
            ${groups.map(({ waiting }) => waiting)}::int4[]
          ) AS counted (id, waiting)
          WHERE lane_group.id = counted.id
        )
        UPDATE scheduler_lane AS lane SET cap = counted.cap, held = counted.held, waiting = counted.waiting
        FROM unnest(
          ${lanes.map(({ lane }) => lane)}::text[],
          ${lanes.map(({ cap }) => cap)}::int4[],
          ${lanes.map(({ held }) => held)}::int4[],
          ${lanes.map(({ waiting }) => waiting)}::int4[]
        ) AS counted (id, cap, held, waiting)
        WHERE lane.id = counted.id
      `

    /** No lock is needed: pending jobs change only under the lock of their lane. */
    const promote = Effect.fnUntraced(function*(promotions: ReadonlyArray<Promotion>) {
      const rows = yield* promotedRows(sql`
        WITH promoted AS MATERIALIZED (
          SELECT job.id, job.position
          FROM unnest(
            ${promotions.map(({ lane }) => lane)}::text[],
            ${promotions.map(({ count }) => count)}::int4[]
          ) AS room (lane_id, count)
          CROSS JOIN LATERAL (
            SELECT id, position FROM scheduler_job
            WHERE lane_id = room.lane_id AND state = 'pending'
            ORDER BY position
            LIMIT room.count
          ) AS job
        ), in_line AS (
          SELECT id, position, true AS promoted FROM promoted
          UNION ALL
          SELECT id, position, false FROM scheduler_job
          WHERE id = ANY(${promotions.flatMap(({ beside }) => beside)}::uuid[])
          ORDER BY position
        ), next AS MATERIALIZED (
          SELECT id, promoted, nextval('scheduler_position') AS position FROM in_line
        )
        UPDATE scheduler_job AS job SET state = 'queued', position = next.position
        FROM next
        -- The array is what keeps the plan at the primary key: how many rows \`next\` has
        -- nobody can estimate, and a join alone reads the whole table for too high a guess.
        WHERE job.id = ANY(ARRAY(SELECT id FROM next)) AND job.id = next.id
        RETURNING job.id, next.promoted
      `)
      const promoted = rows.filter((row) => row.promoted)
      const expected = promotions.reduce((sum, { count }) => sum + count, 0)
      if (promoted.length !== expected) {
        return yield* Effect.die(new Error(`Of ${expected} jobs that should wait ${promoted.length} were found`))
      }
      return promoted.map(({ id }) => id)
    })

    const apply = Effect.fnUntraced(function*(changes: LanesChanges, now: DateTime.Utc) {
      const { ended, enqueued, groups, lanes, promotions } = changes
      if (ended.length > 0) yield* sql`DELETE FROM scheduler_job WHERE id = ANY(${ended}::uuid[])`
      // The jobs that ended are gone before: one that was enqueued may have the id of such a one.
      if (enqueued.length > 0 || groups.length > 0 || lanes.length > 0) yield* write(changes, now)
      return promotions.length === 0 ? [] : yield* promote(promotions)
    })

    /** The jobs of these leases that still run under them, locked in the order of ids. */
    const held = (leases: ReadonlyArray<Lease>) =>
      sql`
        SELECT job.id FROM scheduler_job AS job
        JOIN unnest(
          ${leases.map(({ job }) => job)}::uuid[],
          ${leases.map(({ epoch }) => epoch)}::int4[]
        ) AS lease (id, epoch) ON lease.id = job.id
        WHERE job.state = 'running' AND job.epoch = lease.epoch
        ORDER BY job.id
        FOR UPDATE OF job
      `

    return SchedulerStore.of({
      load: (request) => load(request).pipe(mapSql("SchedulerStore.load")),
      apply: (changes, now) => apply(changes, now).pipe(mapSql("SchedulerStore.apply")),
      claim: (terms) =>
        claimedRows(Statements.claim(sql, terms)).pipe(
          Effect.map((rows) => rows.toSorted(Rows.byPosition).map(Rows.toClaimed)),
          mapSql("SchedulerStore.claim")
        ),
      heartbeat: (leases, until) =>
        idRows(sql`
          WITH held AS MATERIALIZED (${held(leases)})
          UPDATE scheduler_job AS job SET lease_until = ${DateTime.toDate(until)}
          FROM held
          WHERE job.id = held.id
          RETURNING job.id
        `).pipe(Effect.map(toIds), mapSql("SchedulerStore.heartbeat")),
      checkpoint: (checkpoints) =>
        idRows(sql`
          WITH held AS MATERIALIZED (${held(checkpoints)})
          UPDATE scheduler_job AS job SET checkpoint = given.checkpoint::json
          FROM held
          JOIN unnest(
            ${checkpoints.map(({ job }) => job)}::uuid[],
            ${checkpoints.map(({ checkpoint }) => JSON.stringify(checkpoint))}::text[]
          ) AS given (id, checkpoint) ON given.id = held.id
          WHERE job.id = held.id
          RETURNING job.id
        `).pipe(Effect.map(toIds), mapSql("SchedulerStore.checkpoint")),
      release: (leases) =>
        idRows(sql`
          WITH held AS MATERIALIZED (${held(leases)})
          UPDATE scheduler_job AS job SET state = 'queued', lease_until = NULL, attempt = job.attempt - 1
          FROM held
          WHERE job.id = held.id
          RETURNING job.id
        `).pipe(Effect.map(toIds), mapSql("SchedulerStore.release")),
      rescue: (terms) =>
        claimedRows(Statements.rescue(sql, terms)).pipe(
          Effect.map((rows) => {
            const inOrder = rows.toSorted(Rows.byPosition)
            return {
              requeued: inOrder.filter(({ state }) => state === "queued").map(Rows.toAddress),
              exhausted: inOrder.filter(({ state }) => state === "running").map(Rows.toClaimed)
            }
          }),
          mapSql("SchedulerStore.rescue")
        ),
      expireFirstLeases: (now) =>
        idRows(sql`
          WITH held AS MATERIALIZED (
            SELECT id FROM scheduler_job
            WHERE state = 'running' AND attempt = 1 AND lease_until > ${DateTime.toDate(now)}
            ORDER BY id
            FOR UPDATE
          )
          UPDATE scheduler_job AS job SET lease_until = ${DateTime.toDate(now)}
          FROM held
          WHERE job.id = held.id
          RETURNING job.id
        `).pipe(Effect.map(({ length }) => length), mapSql("SchedulerStore.expireFirstLeases")),
      waitingSince: (before, limit, except) =>
        statusRows(sql`
          SELECT ${statusColumns}
          FROM scheduler_job AS job
          WHERE job.state <> 'running'
            AND job.epoch = 0
            AND job.enqueued_at < ${DateTime.toDate(before)}
            AND job.id <> ALL(${except}::uuid[])
          ORDER BY job.enqueued_at, job.position
          LIMIT ${limit}
        `).pipe(Effect.map((rows) => rows.map(Rows.toStatus)), mapSql("SchedulerStore.waitingSince")),
      find: (jobs) =>
        statusRows(sql`
          SELECT ${statusColumns} FROM scheduler_job AS job WHERE job.id = ANY(${jobs}::uuid[]) ORDER BY job.id
        `).pipe(Effect.map((rows) => rows.map(Rows.toStatus)), mapSql("SchedulerStore.find")),
      verify: (limit) =>
        driftRows(sql`
          WITH counted AS (
            SELECT
              lane.id, lane.group_id, lane.held, lane.waiting,
              count(job.id) FILTER (WHERE job.state <> 'pending')::int4 AS held_found,
              count(job.id) FILTER (WHERE job.state = 'pending')::int4 AS waiting_found
            FROM scheduler_lane AS lane
            LEFT JOIN scheduler_job AS job ON job.lane_id = lane.id
            GROUP BY lane.id
          )
          SELECT 'lane' AS "of", id, 'held' AS counter, held AS stored, held_found AS found
          FROM counted WHERE held <> held_found
          UNION ALL
          SELECT 'lane', id, 'waiting', waiting, waiting_found
          FROM counted WHERE waiting <> waiting_found
          UNION ALL
          SELECT 'group', lane_group.id, 'waiting', lane_group.waiting, coalesce(sum(waiting_found), 0)::int4
          FROM scheduler_group AS lane_group
          LEFT JOIN counted ON counted.group_id = lane_group.id
          GROUP BY lane_group.id
          HAVING lane_group.waiting <> coalesce(sum(waiting_found), 0)
          ORDER BY 1, 2, 3
          LIMIT ${limit}
        `).pipe(mapSql("SchedulerStore.verify")),
      groupsAfter: (after, limit) =>
        idRows(sql`SELECT id FROM scheduler_group WHERE id > ${after} ORDER BY id LIMIT ${limit}`).pipe(
          Effect.map(toIds),
          mapSql("SchedulerStore.groupsAfter")
        ),
      recount: (groups) => recount(sql, groups).pipe(mapSql("SchedulerStore.recount"))
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const idRows = Rows.decodeRows(Rows.IdRow)
const promotedRows = Rows.decodeRows(Rows.PromotedRow)
const laneRows = Rows.decodeRows(Rows.LaneRow)
const countedRows = Rows.decodeRows(Rows.CountedLaneRow)
const placeRows = Rows.decodeRows(Rows.PlaceRow)
const statusRows = Rows.decodeRows(Rows.StatusRow)
const claimedRows = Rows.decodeRows(Rows.ClaimedRow)
const driftRows = Rows.decodeRows(Rows.DriftRow)

const toIds = (rows: ReadonlyArray<typeof Rows.IdRow.Type>): ReadonlyArray<JobId> => rows.map(({ id }) => id)

const recount = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, groups: ReadonlyArray<GroupId>) {
  yield* sql`SELECT id FROM scheduler_group WHERE id = ANY(${groups}::text[]) ORDER BY id FOR UPDATE`
  yield* sql`SELECT id FROM scheduler_lane WHERE group_id = ANY(${groups}::text[]) ORDER BY id FOR UPDATE`
  const lanes = yield* countedRows(sql`
    SELECT
      lane.id AS lane, lane.group_id AS "group", lane.cap,
      count(job.id) FILTER (WHERE job.state <> 'pending')::int4 AS held,
      count(job.id) FILTER (WHERE job.state = 'pending')::int4 AS waiting
    FROM scheduler_lane AS lane
    LEFT JOIN scheduler_job AS job ON job.lane_id = lane.id
    WHERE lane.group_id = ANY(${groups}::text[])
    GROUP BY lane.id
    ORDER BY lane.id
  `)
  const waiting = new Map(groups.map((group) => [group, 0]))
  for (const lane of lanes) waiting.set(lane.group, (waiting.get(lane.group) ?? 0) + lane.waiting)
  return { groups: Array.from(waiting, ([group, waiting]) => ({ group, waiting })), lanes, jobs: [] }
})
