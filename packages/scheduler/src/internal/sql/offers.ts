/** Statements on the offers of workers. `internal/queues.ts` has the same rules as pure functions. */
import * as Rows from "@kinora/persistence/Rows"
import { DateTime, Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { offerKept } from "../queues.ts"
import type { Offer, Queue } from "../storeTypes.ts"

/** Records or renews an offer, and deletes old ones. Skips locked rows, so that workers do not wait for each other. */
export const announce = (sql: SqlClient.SqlClient, { id, kinds, slots, until, worker }: Offer, now: DateTime.Utc) =>
  sql`
    WITH old AS (
      DELETE FROM scheduler_worker WHERE id IN (
        SELECT id FROM scheduler_worker
        WHERE until < ${DateTime.toDate(DateTime.subtract(now, offerKept))} AND id <> ${id}
        FOR UPDATE SKIP LOCKED
      )
    )
    INSERT INTO scheduler_worker (id, name, kinds, slots, until)
    VALUES (${id}, ${worker}, ${Rows.array("text", kinds)}, ${slots}, ${DateTime.toDate(until)})
    ON CONFLICT (id) DO UPDATE SET kinds = excluded.kinds, slots = excluded.slots, until = excluded.until
  `

/** Deletes an offer. */
export const retract = (sql: SqlClient.SqlClient, id: string) => sql`DELETE FROM scheduler_worker WHERE id = ${id}`

/** Offers that hold. */
export const offers = (sql: SqlClient.SqlClient, now: DateTime.Utc) =>
  decodeOffers(sql`
    SELECT id, name AS worker, kinds, slots, until FROM scheduler_worker WHERE until > ${DateTime.toDate(now)}
  `)

/** Counts jobs and workers per kind, sorted by kind. Reads all jobs that have not ended. */
export const queues = (sql: SqlClient.SqlClient, now: DateTime.Utc) =>
  Effect.map(
    decodeQueues(sql`
      SELECT
        coalesce(job.kind, offered.kind) AS kind,
        coalesce(job.pending, 0) AS pending,
        coalesce(job.queued, 0) AS queued,
        coalesce(job.running, 0) AS running,
        job.oldest,
        coalesce(offered.workers, 0) AS workers,
        coalesce(offered.slots, 0) AS slots
      FROM (
        SELECT
          kind,
          (count(*) FILTER (WHERE state = 'pending'))::int4 AS pending,
          (count(*) FILTER (WHERE state = 'queued'))::int4 AS queued,
          (count(*) FILTER (WHERE state = 'running'))::int4 AS running,
          min(enqueued_at) FILTER (WHERE state = 'queued') AS oldest
        FROM scheduler_job
        GROUP BY kind
      ) AS job
      FULL JOIN (
        SELECT offer.kind, count(*)::int4 AS workers, sum(worker.slots)::int4 AS slots
        FROM scheduler_worker AS worker
        CROSS JOIN unnest(worker.kinds) AS offer (kind)
        WHERE worker.until > ${DateTime.toDate(now)}
        GROUP BY offer.kind
      ) AS offered ON offered.kind = job.kind
      ORDER BY coalesce(job.kind, offered.kind) COLLATE "C"
    `),
    (rows): ReadonlyArray<Queue> => rows.map((row) => ({ ...row, oldest: Option.fromNullOr(row.oldest) }))
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeOffers = Rows.decodeAll(Schema.Struct({
  id: Schema.String,
  worker: Schema.String,
  kinds: Schema.Array(Schema.String),
  slots: Schema.Int,
  until: Schema.DateTimeUtcFromDate
}))

const decodeQueues = Rows.decodeAll(Schema.Struct({
  kind: Schema.String,
  pending: Schema.Int,
  queued: Schema.Int,
  running: Schema.Int,
  oldest: Schema.NullOr(Schema.DateTimeUtcFromDate),
  workers: Schema.Int,
  slots: Schema.Int
}))
