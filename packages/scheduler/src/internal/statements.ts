/** The statements that every worker runs all the time. A test looks at the plan of the claim. */
import { DateTime } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { ClaimTerms } from "../SchedulerStore.ts"

/**
 * MATERIALIZED, so that no plan can apply the limit twice. SKIP LOCKED: two workers
 * must not wait for each other's jobs. The index holds queued jobs only, in this order,
 * so neither those that wait for a slot nor a long line of queued ones cost anything.
 */
export const claim = (sql: SqlClient.SqlClient, terms: ClaimTerms): Statement.Statement<unknown> =>
  sql`
    WITH next AS MATERIALIZED (
      SELECT id FROM scheduler_job
      WHERE state = 'queued' AND kind = ANY(${terms.kinds}::text[])
      ORDER BY position
      LIMIT ${terms.limit}
      FOR UPDATE SKIP LOCKED
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

/** Queues a lost job again, or leases it to the rescuer when it has no attempt left. */
export const rescue = (sql: SqlClient.SqlClient, terms: ClaimTerms): Statement.Statement<unknown> =>
  sql`
    WITH lost AS MATERIALIZED (
      SELECT id, attempt < attempts_max AS again FROM scheduler_job
      WHERE state = 'running' AND lease_until <= ${DateTime.toDate(terms.now)}
        AND kind = ANY(${terms.kinds}::text[])
      ORDER BY lease_until
      LIMIT ${terms.limit}
      FOR UPDATE SKIP LOCKED
    )
    UPDATE scheduler_job AS job SET
      state = CASE WHEN lost.again THEN 'queued' ELSE 'running' END,
      epoch = CASE WHEN lost.again THEN job.epoch ELSE job.epoch + 1 END,
      lease_until = CASE WHEN lost.again THEN NULL ELSE ${DateTime.toDate(terms.until)}::timestamptz END,
      worker = CASE WHEN lost.again THEN job.worker ELSE ${terms.worker} END
    FROM lost
    WHERE job.id = lost.id
    RETURNING ${sql.literal(claimedColumns)}
  `

/** Where a job is. */
export const addressColumns = `job.id AS job, job.lane_id AS lane, job.group_id AS "group"`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const claimedColumns = `
  ${addressColumns}, job.kind, job.state, job.payload, job.checkpoint, job.epoch, job.attempt,
  job.attempts_max AS "attemptsMax", job.enqueued_at AS "enqueuedAt", job.started_at AS "startedAt",
  job.time_limit_ms AS "timeLimit", job.position
`
