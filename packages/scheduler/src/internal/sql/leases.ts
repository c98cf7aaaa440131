/** Statements that lease jobs to workers. `internal/leases.ts` has the same rules as pure functions. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Rows from "@kinora/persistence/Rows"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { Lease } from "../../Job.ts"
import type { JobId } from "../ids.ts"
import * as KindName from "../kindName.ts"
import type { Release } from "../requests.ts"
import { startedShare } from "../shares.ts"
import type { AloneQuestion, Checkpoint, ClaimTerms, LeaseTerms, RescueTerms } from "../storeTypes.ts"
import * as JobIds from "./jobIds.ts"
import { claimedColumns, decodeClaimed, decodeIds, toAddress, toClaimed } from "./rows.ts"

/** Claims jobs for a worker. */
export const claim = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, terms: ClaimTerms) {
  const now = yield* DatabaseTime.now
  const rows = yield* decodeClaimed(
    terms.alone ? claimAloneStatement(sql, terms, now) : claimStatement(sql, terms, now)
  )
  return rows.toSorted((a, b) => a.share - b.share).map(toClaimed)
})

/** Claims one job, which the unit has enqueued. */
export const claimJob = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, terms: LeaseTerms, job: JobId) {
  const now = yield* DatabaseTime.now
  const [row] = yield* decodeClaimed(sql`
    WITH next AS MATERIALIZED (
      SELECT id FROM scheduler_job
      WHERE id = ANY(${JobIds.keys([job])}) AND state = 'queued' AND alone_from IS NULL AND ${holds(sql, terms, now)}
    )
    ${claimNext(sql, terms, now)}
  `)
  return row && toClaimed(row)
})

/**
 * The statement of `claim`. The indexes contain only queued jobs, by kind, share and position,
 * and Postgres merges the ranges of the kinds, so the cost depends neither on how many jobs and
 * lanes there are nor on the jobs of other kinds. Jobs are locked one by one in the merged order,
 * so no job is locked that is not claimed. SKIP LOCKED keeps workers from waiting for each other's
 * jobs, and MATERIALIZED keeps a plan from applying the limit twice.
 */
export const claimStatement: ClaimStatement = (sql, terms, now) =>
  sql`
    WITH next AS MATERIALIZED (
      SELECT locked.id
      FROM (${queuedInOrder(sql, terms)}) AS queued
      CROSS JOIN LATERAL (
        SELECT id FROM scheduler_job
        WHERE id = queued.id AND state = 'queued' AND alone_from IS NULL
        FOR UPDATE SKIP LOCKED
      ) AS locked
      WHERE ${holds(sql, terms, now)}
      ORDER BY queued.share, queued.position
      LIMIT ${terms.limit}
    )
    ${claimNext(sql, terms, now)}
  `

/**
 * Takes over the jobs of lost workers, and those that exceeded their time limit while they
 * waited for their next worker. Queues a job again, or leases it to the rescuer if it has no
 * attempt or no time left.
 *
 * An expired lease is ended under the lock of its row, where its expiry is tested again. So
 * either a renewal at the same moment fails, or the jobs of its worker are left alone.
 */
export const rescue = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, terms: RescueTerms) {
  const now = yield* DatabaseTime.now
  const rows = yield* decodeClaimed(sql`
    WITH expired AS MATERIALIZED (
      SELECT id, lease FROM scheduler_worker
      WHERE lease IS NOT NULL AND until <= ${now} AND ${holds(sql, terms, now)}
      ORDER BY id
      FOR UPDATE SKIP LOCKED
    ), ended AS (
      UPDATE scheduler_worker AS worker SET lease = NULL FROM expired WHERE worker.id = expired.id
    ), late AS MATERIALIZED (
      SELECT id, false AS again FROM scheduler_job
      WHERE state = 'queued' AND started_at IS NOT NULL
        AND ${sql.literal(endInSql)} <= ${now}
        AND ${sql.literal(KindName.baseInSql)} = ANY(${Rows.array("text", terms.kinds)})
        AND ${holds(sql, terms, now)}
      ORDER BY ${sql.literal(endInSql)}
      LIMIT ${terms.limit}
      FOR UPDATE SKIP LOCKED
    ), lost AS MATERIALIZED (
      SELECT id, attempt < attempts_max AS again FROM scheduler_job
      WHERE state = 'running'
        AND ${sql.literal(KindName.baseInSql)} = ANY(${Rows.array("text", terms.kinds)})
        AND ${holds(sql, terms, now)}
        AND (
          -- Leased by a build without leases of workers.
          (lease IS NULL AND lease_until <= ${now})
          OR lease IN (SELECT lease FROM expired)
          OR (lease IS NOT NULL AND lease NOT IN (SELECT lease FROM scheduler_worker WHERE lease IS NOT NULL))
          ${abandoned(sql, terms)}
        )
      ORDER BY position
      LIMIT ${terms.limit}::int4 - (SELECT count(*) FROM late)
      FOR UPDATE SKIP LOCKED
    ), taken AS (
      SELECT * FROM late UNION ALL SELECT * FROM lost
    )
    UPDATE scheduler_job AS job SET
      state = CASE WHEN taken.again THEN 'queued' ELSE 'running' END,
      epoch = CASE WHEN taken.again THEN job.epoch ELSE job.epoch + 1 END,
      attempt = CASE WHEN job.state = 'queued' THEN job.attempt + 1 ELSE job.attempt END,
      share = CASE WHEN taken.again THEN ${startedShare} ELSE job.share END,
      lease = CASE WHEN taken.again THEN NULL ELSE ${terms.lease} END,
      lease_until = NULL,
      worker = CASE WHEN taken.again THEN job.worker ELSE ${terms.worker} END,
      alone_from = CASE
        WHEN taken.again AND job.attempt + 1 >= job.attempts_max THEN ${DatabaseTime.after(now, terms.aloneDelay)}
        ELSE job.alone_from
      END
    FROM taken
    WHERE job.id = taken.id
    RETURNING ${sql.literal(claimedColumns)}, ${now} AS "claimedAt"
  `)
  return {
    requeued: rows.filter(({ state }) => state === "queued").map(toAddress),
    exhausted: rows.filter(({ state }) => state === "running").map(toClaimed)
  }
})

/** Returns whether the worker should run no other job, so that it can run one alone. */
export const isAloneDue = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, { id, isIdle, ...claimed }: AloneQuestion) {
    const now = yield* DatabaseTime.now
    const rows = yield* decodeIds(sql`
      SELECT job.id FROM scheduler_job AS job
      WHERE job.state = 'queued' AND job.alone_from <= ${now} AND ${isClaimed(sql, claimed)}
        AND (${isIdle}::boolean OR NOT EXISTS (
          SELECT 1 FROM scheduler_worker AS other
          WHERE other.lease IS NOT NULL AND other.until > ${now}
            AND other.id COLLATE "C" < ${id} AND job.kind = ANY(other.kinds)
        ))
      LIMIT 1
    `)
    return rows.length > 0
  }
)

/** Stores checkpoints, and returns the jobs whose lease holds. */
export const checkpoint = (sql: SqlClient.SqlClient, checkpoints: ReadonlyArray<Checkpoint>) =>
  updateHeld(sql, checkpoints, {
    given: Rows.table("given", checkpoints, {
      id: JobIds.keyColumn,
      checkpoint: ["json", ({ checkpoint }) => checkpoint],
      resumable: ["boolean", ({ resumable }) => resumable]
    }),
    set: sql`checkpoint = given.checkpoint, resumable = given.resumable`
  })

/** Queues leased jobs again without counting the attempt, and returns those whose lease held. */
export const release = (sql: SqlClient.SqlClient, leases: ReadonlyArray<Release>) =>
  updateHeld(sql, leases, {
    given: Rows.table("given", leases, {
      id: JobIds.keyColumn,
      pool: ["text?", ({ pool }) => pool]
    }),
    set: sql`
      state = 'queued',
      lease = NULL,
      lease_until = NULL,
      share = ${startedShare},
      attempt = job.attempt - 1,
      kind = coalesce(split_part(job.kind, ':', 1) || ':' || given.pool, job.kind)
    `
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type ClaimStatement = (
  sql: SqlClient.SqlClient,
  terms: ClaimTerms,
  now: Statement.Fragment
) => Statement.Statement<unknown>

const claimAloneStatement: ClaimStatement = (sql, terms, now) =>
  sql`
    WITH next AS MATERIALIZED (
      SELECT id FROM scheduler_job AS job
      WHERE state = 'queued' AND alone_from <= ${now}
        AND ${isClaimed(sql, terms)}
        AND group_id <> ALL(${Rows.array("text", terms.except)})
        AND ${holds(sql, terms, now)}
      ORDER BY alone_from, position
      LIMIT ${Math.min(1, terms.limit)}
      FOR UPDATE SKIP LOCKED
    )
    ${claimNext(sql, terms, now)}
  `

/** Whether the lease of the worker holds. Evaluated once per statement, since it depends on no other row. */
const holds = (sql: SqlClient.SqlClient, { lease }: LeaseTerms, now: Statement.Fragment) =>
  sql`EXISTS (SELECT 1 FROM scheduler_worker AS own WHERE own.lease = ${lease} AND own.until > ${now})`

/** Whether the rescuer has leased a job, but does not run it. */
const abandoned = (sql: SqlClient.SqlClient, { held, lease }: RescueTerms) =>
  held === undefined ? sql`` : sql`OR (lease = ${lease} AND id <> ALL(${JobIds.keys(held)}))`

/** Leases the locked jobs of `next` to the worker. */
const claimNext = (sql: SqlClient.SqlClient, terms: LeaseTerms, now: Statement.Fragment) =>
  sql`
    UPDATE scheduler_job AS job SET
      state = 'running',
      epoch = job.epoch + 1,
      attempt = job.attempt + 1,
      started_at = coalesce(job.started_at, ${now}),
      lease = ${terms.lease},
      worker = ${terms.worker}
    FROM next
    WHERE job.id = next.id
    RETURNING ${sql.literal(claimedColumns)}, ${now} AS "claimedAt"
  `

/** Whether a claim selects the row `job`, by its kind. */
const isClaimed = (
  sql: SqlClient.SqlClient,
  { kinds, resumableKinds = [] }: Pick<AloneQuestion, "kinds" | "resumableKinds">
) =>
  sql`(
    job.kind = ANY(${Rows.array("text", kinds)})
    OR (job.resumable AND job.kind = ANY(${Rows.array("text", resumableKinds)}))
  )`

/** Jobs that a claim can skip at least, because other claims and units have locked them. It finds the jobs behind more of them at the next poll. */
const skippedMax = 256

/**
 * Queued jobs that a claim selects by share and position, without those of some groups. Reads the first
 * ones of each kind from an index, and sorts them together. The limit is a literal, since a
 * prepared statement is planned without the values of its parameters, and the plan for an unknown
 * limit sorts all queued jobs. It is rounded, so that there are few statements.
 */
const queuedInOrder = (sql: SqlClient.SqlClient, { except, kinds, limit, resumableKinds }: ClaimTerms) => {
  const lookedAt = sql.literal(String(skippedMax + 16 * Math.ceil(limit / 16)))
  const others = except.length === 0 ? sql`` : sql`AND group_id <> ALL(${Rows.array("text", except)})`
  const ofKind = (kind: string, resumable: Statement.Fragment) =>
    sql`
      SELECT id, share, position FROM (
        SELECT id, share, position FROM scheduler_job
        WHERE state = 'queued' AND kind = ${kind} AND alone_from IS NULL ${resumable} ${others}
        ORDER BY share, position
        LIMIT ${lookedAt}
      ) AS of_kind
    `
  const ranges = [
    ...kinds.map((kind) => ofKind(kind, sql``)),
    ...resumableKinds.map((kind) => ofKind(kind, sql`AND resumable`))
  ]
  return sql`${sql.join(" UNION ALL ", false)(ranges)} ORDER BY share, position`
}

/** SQL expression for the time at which the time limit of a started job passes. */
const endInSql = "started_at + time_limit_ms * interval '1 millisecond'"

/** Updates the jobs under these leases with values of `given`, and returns the jobs whose lease holds. */
const updateHeld = (
  sql: SqlClient.SqlClient,
  leases: ReadonlyArray<Lease>,
  { given, set }: { readonly given: Statement.Fragment; readonly set: Statement.Fragment }
) =>
  decodeIds(sql`
    WITH held AS MATERIALIZED (${held(sql, leases)})
    UPDATE scheduler_job AS job SET ${set}
    FROM held JOIN ${given} ON given.id = held.id
    WHERE job.id = held.id
    RETURNING ${sql.literal(JobIds.idInSql)} AS id
  `)

/** The jobs that run under these leases, locked in the order of ids. */
const held = (sql: SqlClient.SqlClient, leases: ReadonlyArray<Lease>) =>
  sql`
    SELECT job.id FROM scheduler_job AS job
    JOIN ${
    Rows.table("lease", leases, {
      id: JobIds.keyColumn,
      epoch: ["int4", ({ epoch }) => epoch]
    })
  } ON lease.id = job.id
    WHERE job.state = 'running' AND job.epoch = lease.epoch
    ORDER BY job.id
    FOR UPDATE OF job
  `
