/**
 * Statements on workers and their leases. `internal/workers.ts` and `internal/queues.ts` have
 * the same rules as pure functions.
 */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Rows from "@kinora/persistence/Rows"
import { Duration, Effect, Option, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { NewLease, Queue, Renewal, WorkerSelection, WorkerStatus } from "../storeTypes.ts"
import { workerKept } from "../workers.ts"

/** Takes a lease, and deletes old workers. Skips locked rows, so that workers do not wait for each other. */
export const take = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, options: NewLease) {
  const { id, kinds, lease, slots, ttl, worker } = options
  const now = yield* DatabaseTime.now
  yield* sql`
    WITH old AS (
      DELETE FROM scheduler_worker WHERE id IN (
        SELECT id FROM scheduler_worker
        WHERE until < ${DatabaseTime.before(now, workerKept)} AND id <> ${id}
        FOR UPDATE SKIP LOCKED
      )
    )
    INSERT INTO scheduler_worker (id, name, kinds, slots, until, lease, started_at)
    VALUES (
      ${id}, ${worker}, ${Rows.array("text", kinds)}, ${slots}, ${DatabaseTime.after(now, ttl)}, ${lease}, ${now}
    )
    ON CONFLICT (id) DO UPDATE SET
      name = excluded.name, kinds = excluded.kinds, slots = excluded.slots,
      until = excluded.until, lease = excluded.lease,
      started_at = coalesce(scheduler_worker.started_at, excluded.started_at)
  `
})

/** Renews a lease that holds. Returns whether it does. */
export const renew = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, { kinds, lease, ttl }: Renewal) {
  const now = yield* DatabaseTime.now
  const renewed = yield* sql`
    UPDATE scheduler_worker
    SET until = ${DatabaseTime.after(now, ttl)}, kinds = ${Rows.array("text", kinds)}
    WHERE lease = ${lease} AND until > ${now}
    RETURNING 1
  `
  return renewed.length > 0
})

/** Asks a worker to drain, or no longer. Returns whether its lease holds. */
export const drain = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, worker: string, drains: boolean) {
  const now = yield* DatabaseTime.now
  const found = yield* sql`
    UPDATE scheduler_worker SET draining = ${drains} WHERE id = ${worker} AND until > ${now} RETURNING 1
  `
  return found.length > 0
})

/** Returns whether the worker that has this lease is asked to drain. */
export const isDrained = (sql: SqlClient.SqlClient, lease: string) =>
  Effect.map(
    sql`SELECT 1 FROM scheduler_worker WHERE lease = ${lease} AND draining`,
    (found) => found.length > 0
  )

/** Deletes the worker that has this lease. */
export const remove = (sql: SqlClient.SqlClient, lease: string) =>
  sql`DELETE FROM scheduler_worker WHERE lease = ${lease}`

/** Ends all leases, and returns how many jobs ran under them. */
export const endAll = Effect.fnUntraced(function*(sql: SqlClient.SqlClient) {
  const now = yield* DatabaseTime.now
  const [found] = yield* decodeEnded(sql`
    WITH workers AS (
      DELETE FROM scheduler_worker
    ), leased AS (
      -- Leased by a build without leases of workers.
      UPDATE scheduler_job SET lease_until = ${now} WHERE state = 'running' AND lease_until > ${now}
    )
    SELECT count(*)::int4 AS jobs FROM scheduler_job WHERE state = 'running'
  `)
  return found?.jobs ?? 0
})

/** Workers that claim jobs and whose lease has not expired. */
export const offers = Effect.fnUntraced(function*(sql: SqlClient.SqlClient) {
  const now = yield* DatabaseTime.now
  return yield* decodeOffers(sql`
    SELECT id, name AS worker, kinds, slots, until FROM scheduler_worker
    WHERE until > ${now} AND cardinality(kinds) > 0
  `)
})

/** A page of the workers whose lease has not expired, by id. */
export const statuses = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, { after = "", limit }: WorkerSelection) {
    const now = yield* DatabaseTime.now
    const rows = yield* decodeStatuses(sql`
      SELECT
        worker.id, worker.name AS worker, worker.kinds, worker.slots, worker.until, worker.started_at AS "startedAt",
        coalesce(leased.jobs, 0) AS running,
        worker.draining OR cardinality(worker.kinds) = 0 AS "isDraining"
      FROM (
        SELECT * FROM scheduler_worker
        WHERE until > ${now} AND id COLLATE "C" > ${after}
        ORDER BY id COLLATE "C"
        LIMIT ${limit}
      ) AS worker
      -- As many as the workers have slots, so that their leases need no index.
      LEFT JOIN (
        SELECT lease, count(*)::int4 AS jobs FROM scheduler_job WHERE state = 'running' GROUP BY lease
      ) AS leased ON leased.lease = worker.lease
      ORDER BY worker.id COLLATE "C"
    `)
    return rows.map((row): WorkerStatus => ({ ...row, startedAt: Option.fromNullOr(row.startedAt) }))
  }
)

/** SQL expression for the array of the kinds and pools that live workers claim. Evaluated once per statement. */
export const offeredKinds = (sql: SqlClient.SqlClient, now: Statement.Fragment) =>
  sql`ARRAY(
    SELECT offer.kind FROM scheduler_worker AS worker
    CROSS JOIN unnest(worker.kinds) AS offer (kind)
    WHERE worker.until > ${now}
  )`

/** Counts jobs and workers per kind, sorted by kind. Reads all jobs that have not ended. */
export const queues = Effect.fnUntraced(function*(sql: SqlClient.SqlClient) {
  const now = yield* DatabaseTime.now
  const rows = yield* decodeQueues(sql`
      SELECT
        coalesce(job.kind, offered.kind) AS kind,
        coalesce(job.pending, 0) AS pending,
        coalesce(job.queued, 0) AS queued,
        coalesce(job.running, 0) AS running,
        coalesce(job.delayed, 0) AS delayed,
        job.oldest,
        (extract(epoch FROM ${now} - job.oldest) * 1000)::float8 AS wait,
        coalesce(offered.workers, 0) AS workers,
        coalesce(offered.slots, 0) AS slots
      FROM (
        SELECT
          kind,
          (count(*) FILTER (WHERE state = 'pending'))::int4 AS pending,
          (count(*) FILTER (WHERE state = 'queued'))::int4 AS queued,
          (count(*) FILTER (WHERE state = 'running'))::int4 AS running,
          (count(*) FILTER (WHERE state = 'delayed'))::int4 AS delayed,
          min(enqueued_at) FILTER (WHERE state = 'queued') AS oldest
        FROM (
          SELECT kind, state, enqueued_at FROM scheduler_job
          UNION ALL
          SELECT kind, 'delayed', NULL FROM scheduler_delayed
        ) AS every
        GROUP BY kind
      ) AS job
      FULL JOIN (
        SELECT offer.kind, count(*)::int4 AS workers, sum(worker.slots)::int4 AS slots
        FROM scheduler_worker AS worker
        CROSS JOIN unnest(worker.kinds) AS offer (kind)
        WHERE worker.until > ${now}
        GROUP BY offer.kind
      ) AS offered ON offered.kind = job.kind
      ORDER BY coalesce(job.kind, offered.kind) COLLATE "C"
    `)
  return rows.map(({ oldest, wait, ...row }): Queue => ({
    ...row,
    oldest: Option.fromNullOr(oldest),
    // A statement of another connection can begin a moment later and commit before this one reads.
    oldestWait: Option.map(Option.fromNullOr(wait), (millis) => Duration.millis(Math.max(0, millis)))
  }))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeEnded = Rows.decodeAll(Schema.Struct({ jobs: Schema.Int }))

const decodeOffers = Rows.decodeAll(Schema.Struct({
  id: Schema.String,
  worker: Schema.String,
  kinds: Schema.Array(Schema.String),
  slots: Schema.Int,
  until: Rows.timestamptz
}))

const decodeStatuses = Rows.decodeAll(Schema.Struct({
  id: Schema.String,
  worker: Schema.String,
  kinds: Schema.Array(Schema.String),
  slots: Schema.Int,
  until: Rows.timestamptz,
  startedAt: Schema.NullOr(Rows.timestamptz),
  running: Schema.Int,
  isDraining: Schema.Boolean
}))

const decodeQueues = Rows.decodeAll(Schema.Struct({
  kind: Schema.String,
  pending: Schema.Int,
  queued: Schema.Int,
  running: Schema.Int,
  delayed: Schema.Int,
  oldest: Schema.NullOr(Rows.timestamptz),
  wait: Schema.NullOr(Schema.Number),
  workers: Schema.Int,
  slots: Schema.Int
}))
