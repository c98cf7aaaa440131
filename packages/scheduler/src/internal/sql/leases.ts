/** Statements that lease jobs to workers. `internal/leases.ts` has the same rules as pure functions. */
import * as Rows from "@kinora/persistence/Rows"
import { DateTime, Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { Lease } from "../../Job.ts"
import * as KindName from "../kindName.ts"
import type { Release } from "../requests.ts"
import type { Checkpoint, ClaimTerms } from "../storeTypes.ts"
import { claimedColumns, decodeClaimed, decodeIds, toAddress, toClaimed } from "./rows.ts"

/** Leases queued jobs to a worker. */
export const claim = (sql: SqlClient.SqlClient, terms: ClaimTerms) =>
  Effect.map(decodeClaimed(claimStatement(sql, terms)), (rows) => rows.map(toClaimed))

/**
 * The statement of `claim`. The index contains only queued jobs, by kind and position, and
 * Postgres merges the ranges of the kinds, so the cost depends neither on how many jobs there
 * are nor on those of other kinds. Jobs are locked one by one in the merged order, so no
 * job is locked that is not claimed. SKIP LOCKED keeps workers from waiting for each
 * other's jobs, and MATERIALIZED keeps a plan from applying the limit twice.
 */
export const claimStatement = (sql: SqlClient.SqlClient, terms: ClaimTerms): Statement.Statement<unknown> =>
  sql`
    WITH next AS MATERIALIZED (
      SELECT locked.id
      FROM (${queuedInOrder(sql, terms.kinds)}) AS queued
      CROSS JOIN LATERAL (
        SELECT id FROM scheduler_job
        WHERE id = queued.id AND state = 'queued'
        FOR UPDATE SKIP LOCKED
      ) AS locked
      ORDER BY queued.position
      LIMIT ${terms.limit}
    )
    UPDATE scheduler_job AS job SET
      state = 'running',
      epoch = job.epoch + 1,
      attempt = job.attempt + 1,
      started_at = coalesce(job.started_at, ${DateTime.toDate(terms.now)}),
      lease_until = ${DateTime.toDate(terms.until)},
      worker = ${terms.worker}
    FROM next
    WHERE job.id = next.id
    RETURNING ${sql.literal(claimedColumns)}
  `

/**
 * Queues jobs with an expired lease again, or leases them to the rescuer if they have no
 * attempt left. Leases jobs to the rescuer that exceeded their time limit while they waited
 * for their next worker.
 */
export const rescue = (sql: SqlClient.SqlClient, terms: ClaimTerms) =>
  Effect.map(
    decodeClaimed(sql`
      WITH late AS MATERIALIZED (
        SELECT id, false AS again FROM scheduler_job
        WHERE state = 'queued' AND started_at IS NOT NULL
          AND ${sql.literal(endInSql)} <= ${DateTime.toDate(terms.now)}
          AND ${sql.literal(KindName.baseInSql)} = ANY(${Rows.array("text", terms.kinds)})
        ORDER BY ${sql.literal(endInSql)}
        LIMIT ${terms.limit}
        FOR UPDATE SKIP LOCKED
      ), expired AS MATERIALIZED (
        SELECT id, attempt < attempts_max AS again FROM scheduler_job
        WHERE state = 'running' AND lease_until <= ${DateTime.toDate(terms.now)}
          AND ${sql.literal(KindName.baseInSql)} = ANY(${Rows.array("text", terms.kinds)})
        ORDER BY lease_until
        LIMIT ${terms.limit}::int4 - (SELECT count(*) FROM late)
        FOR UPDATE SKIP LOCKED
      ), lost AS (
        SELECT * FROM late UNION ALL SELECT * FROM expired
      )
      UPDATE scheduler_job AS job SET
        state = CASE WHEN lost.again THEN 'queued' ELSE 'running' END,
        epoch = CASE WHEN lost.again THEN job.epoch ELSE job.epoch + 1 END,
        attempt = CASE WHEN job.state = 'queued' THEN job.attempt + 1 ELSE job.attempt END,
        lease_until = CASE WHEN lost.again THEN NULL ELSE ${DateTime.toDate(terms.until)}::timestamptz END,
        worker = CASE WHEN lost.again THEN job.worker ELSE ${terms.worker} END
      FROM lost
      WHERE job.id = lost.id
      RETURNING ${sql.literal(claimedColumns)}
    `),
    (rows) => ({
      requeued: rows.filter(({ state }) => state === "queued").map(toAddress),
      exhausted: rows.filter(({ state }) => state === "running").map(toClaimed)
    })
  )

/** Extends leases, and returns the jobs whose lease holds. */
export const heartbeat = (sql: SqlClient.SqlClient, leases: ReadonlyArray<Lease>, until: DateTime.Utc) =>
  updateHeld(sql, leases, { set: sql`lease_until = ${DateTime.toDate(until)}` })

/** Stores checkpoints, and returns the jobs whose lease holds. */
export const checkpoint = (sql: SqlClient.SqlClient, checkpoints: ReadonlyArray<Checkpoint>) =>
  updateHeld(sql, checkpoints, {
    given: Rows.table("given", checkpoints, {
      id: ["uuid", ({ job }) => job],
      checkpoint: ["json", ({ checkpoint }) => checkpoint]
    }),
    set: sql`checkpoint = given.checkpoint`
  })

/** Queues leased jobs again without counting the attempt, and returns those whose lease held. */
export const release = (sql: SqlClient.SqlClient, leases: ReadonlyArray<Release>) =>
  updateHeld(sql, leases, {
    given: Rows.table("given", leases, {
      id: ["uuid", ({ job }) => job],
      pool: ["text?", ({ pool }) => pool]
    }),
    set: sql`
      state = 'queued',
      lease_until = NULL,
      attempt = job.attempt - 1,
      kind = coalesce(split_part(job.kind, ':', 1) || ':' || given.pool, job.kind)
    `
  })

/** Expires the leases of all first attempts, and returns their number. */
export const expireFirstLeases = (sql: SqlClient.SqlClient, now: DateTime.Utc) =>
  Effect.map(
    decodeIds(sql`
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
    `),
    ({ length }) => length
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Queued jobs of these kinds, in the order in which they got their slots. One range of the index per kind. */
const queuedInOrder = (sql: SqlClient.SqlClient, kinds: ReadonlyArray<string>) =>
  sql`
    ${
    sql.join(" UNION ALL ", false)(
      kinds.map((kind) => sql`SELECT id, position FROM scheduler_job WHERE state = 'queued' AND kind = ${kind}`)
    )
  }
    ORDER BY position
  `

/** SQL expression for the time at which the time limit of a started job passes. */
const endInSql = "started_at + time_limit_ms * interval '1 millisecond'"

/** Updates the jobs under these leases with values of `given`, and returns the jobs whose lease holds. */
const updateHeld = (
  sql: SqlClient.SqlClient,
  leases: ReadonlyArray<Lease>,
  { given, set }: { readonly given?: Statement.Fragment; readonly set: Statement.Fragment }
) =>
  decodeIds(sql`
    WITH held AS MATERIALIZED (${held(sql, leases)})
    UPDATE scheduler_job AS job SET ${set}
    FROM held ${given === undefined ? sql`` : sql`JOIN ${given} ON given.id = held.id`}
    WHERE job.id = held.id
    RETURNING job.id
  `)

/** The jobs that run under these leases, locked in the order of ids. */
const held = (sql: SqlClient.SqlClient, leases: ReadonlyArray<Lease>) =>
  sql`
    SELECT job.id FROM scheduler_job AS job
    JOIN ${
    Rows.table("lease", leases, {
      id: ["uuid", ({ job }) => job],
      epoch: ["int4", ({ epoch }) => epoch]
    })
  } ON lease.id = job.id
    WHERE job.state = 'running' AND job.epoch = lease.epoch
    ORDER BY job.id
    FOR UPDATE OF job
  `
