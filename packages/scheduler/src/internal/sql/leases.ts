/** Statements that lease jobs to workers. `internal/leases.ts` has the same rules as pure functions. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Rows from "@kinora/persistence/Rows"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { Lease } from "../../Job.ts"
import * as KindName from "../kindName.ts"
import type { Release } from "../requests.ts"
import { startedShare } from "../shares.ts"
import type { AloneQuestion, Checkpoint, LeaseTerms, RescueTerms } from "../storeTypes.ts"
import * as JobIds from "./jobIds.ts"
import { claimedColumns, decodeClaimed, decodeIds, toAddress, toClaimed } from "./rows.ts"

/**
 * Takes over the jobs of lost workers, and those that exceeded their time limit while they
 * waited for their next worker. Queues a job again, or leases it to the rescuer if it has no
 * attempt or no time left.
 *
 * An expired lease is ended under the lock of its row, where its expiry is tested again. So
 * either a renewal at the same moment fails, or the jobs of its worker stay unchanged.
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

/** Whether the lease of the worker holds. Evaluated once per statement, since it depends on no other row. */
export const holds = (sql: SqlClient.SqlClient, { lease }: LeaseTerms, now: Statement.Fragment) =>
  sql`EXISTS (SELECT 1 FROM scheduler_worker AS own WHERE own.lease = ${lease} AND own.until > ${now})`

/** Whether the rescuer has leased a job, but does not run it. */
const abandoned = (sql: SqlClient.SqlClient, { held, lease }: RescueTerms) =>
  held === undefined ? sql`` : sql`OR (lease = ${lease} AND id <> ALL(${JobIds.keys(held)}))`

/** Whether a claim selects the row `job`, by its kind. */
export const isClaimed = (
  sql: SqlClient.SqlClient,
  { kinds, resumableKinds = [] }: Pick<AloneQuestion, "kinds" | "resumableKinds">
) =>
  sql`(
    job.kind = ANY(${Rows.array("text", kinds)})
    OR (job.resumable AND job.kind = ANY(${Rows.array("text", resumableKinds)}))
  )`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

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
