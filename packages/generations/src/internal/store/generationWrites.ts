/** Statements that write `generation_job`, `generation_usage` and `generation_key_usage`. Each is one statement for a set of any size. */
import { DatabaseTime, Pipelining, Rows } from "@kinora/persistence"
import { mapSql } from "@kinora/persistence/StorageError"
import { DateTime, Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { GenerationId } from "../../Generation.ts"
import { attemptFilesKept, type GenerationStore } from "../../GenerationStore.ts"
import { columns, decodeReadable } from "./generationRow.ts"

type Store = GenerationStore["Service"]

export const insert = (sql: SqlClient.SqlClient): Store["insert"] => (generations) =>
  Pipelining.write(sql, sql`INSERT INTO generation_job ${Rows.unnest(generations, insertedColumns)}`).pipe(
    mapSql("GenerationStore.insert")
  )

export const queue = (sql: SqlClient.SqlClient): Store["queue"] => (ids) =>
  Pipelining.write(
    sql,
    sql`
    UPDATE generation_job SET status = 'queued'
    WHERE id = ANY(${Rows.array("uuid", ids.map(GenerationId.toUuid))}) AND status = 'pending'
  `
  ).pipe(mapSql("GenerationStore.queue"))

export const unqueue = (sql: SqlClient.SqlClient): Store["unqueue"] => (ids) =>
  sql`
    UPDATE generation_job SET status = 'pending'
    WHERE id = ANY(${Rows.array("uuid", ids.map(GenerationId.toUuid))}) AND status = 'queued'
  `.pipe(Effect.asVoid, mapSql("GenerationStore.unqueue"))

export const end = (sql: SqlClient.SqlClient): Store["end"] => (endings) =>
  // The same statement ends a job and counts it, so a job is counted once. Units that count in one row of
  // `generation_usage` hold the lock of the same lane; the order prevents deadlocks of callers without that lock.
  sql`
    WITH ended AS (
      UPDATE generation_job AS job
      SET status = ending.status,
          failure = ending.failure,
          output = ending.output,
          result_expires_at = ending.expires_at,
          finished_at = ending.at,
          refunded = ending.status <> 'completed',
          attempt_files_due = CASE
            WHEN job.started_at IS NOT NULL
              AND (ending.status <> 'completed' OR jsonb_array_length(job.attempts) > 1)
            THEN ending.attempt_files_due
          END
      FROM ${
    Rows.table("ending", endings, {
      id: ["uuid", ({ id }) => GenerationId.toUuid(id)],
      ...Rows.fields({ status: "text", failure: "jsonb?", output: "jsonb?", at: "timestamptz" }),
      expires_at: ["timestamptz?", ({ resultExpiresAt }) => resultExpiresAt],
      attempt_files_due: ["timestamptz", ({ at }) => DateTime.addDuration(at, attemptFilesKept)]
    })
  }
      WHERE job.id = ending.id
        AND (job.status = 'processing' OR (ending.status <> 'completed' AND job.status IN ('pending', 'queued')))
      RETURNING job.*
    ), counted AS (${counted(sql, "generation_usage", "account, day, plan, model, kind")}),
    counted_by_key AS (${
    counted(sql, "generation_key_usage", "account, day, plan, model, kind, key_id", sql`key_id IS NOT NULL`)
  })
    SELECT ${sql.literal(columns)} FROM ended
  `.pipe(decodeReadable, mapSql("GenerationStore.end"))

export const putOff = (sql: SqlClient.SqlClient): Store["putOff"] => (ids, until) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    UPDATE generation_job SET put_off_until = ${clock.toDatabase(until)}
    WHERE id = ANY(${Rows.array("uuid", ids.map(GenerationId.toUuid))})
  `).pipe(Effect.asVoid, mapSql("GenerationStore.putOff"))

export const clearOutput = (sql: SqlClient.SqlClient): Store["clearOutput"] => (ids) =>
  sql`
    UPDATE generation_job SET output = NULL
    WHERE id = ANY(${Rows.array("uuid", ids.map(GenerationId.toUuid))}) AND status = 'completed'
  `.pipe(Effect.asVoid, mapSql("GenerationStore.clearOutput"))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Adds the ended jobs that match the condition to the counters of a table with this primary key. */
const counted = (
  sql: SqlClient.SqlClient,
  table: string,
  key: string,
  condition: Statement.Fragment = sql`true`
): Statement.Fragment =>
  sql`
      INSERT INTO ${sql.literal(table)} AS usage (${sql.literal(key)}, completed, failed, cancelled, credits)
      SELECT
        ${sql.literal(key)},
        count(*) FILTER (WHERE status = 'completed'),
        count(*) FILTER (WHERE status = 'failed'),
        count(*) FILTER (WHERE status = 'cancelled'),
        coalesce(sum(cost_credits) FILTER (WHERE status = 'completed'), 0)
      FROM (SELECT *, (finished_at AT TIME ZONE 'UTC')::date AS day FROM ended) AS ended
      WHERE ${condition}
      GROUP BY ${sql.literal(key)}
      ORDER BY ${sql.literal(key)}
      ON CONFLICT (${sql.literal(key)}) DO UPDATE
      SET completed = usage.completed + excluded.completed,
          failed = usage.failed + excluded.failed,
          cancelled = usage.cancelled + excluded.cancelled,
          credits = usage.credits + excluded.credits
  `

const insertedColumns: Rows.Columns<Parameters<Store["insert"]>[0][number]> = {
  id: ["uuid", ({ id }) => GenerationId.toUuid(id)],
  ...Rows.fields({
    account: "text",
    model: "text",
    kind: "text",
    mode: "text",
    plan: "text",
    status: "text",
    prompt: "text",
    params: "jsonb",
    images: "jsonb"
  }),
  key_id: ["text?", ({ key }) => key],
  cost_credits: ["int8?", ({ costCredits }) => costCredits],
  quota_kind: ["text?", ({ quotaKind }) => quotaKind],
  key_line: ["text?", ({ keyLine }) => keyLine],
  watermark: ["boolean", ({ watermark }) => watermark],
  refunded: ["boolean", ({ refunded }) => refunded],
  created_at: ["timestamptz", ({ createdAt }) => createdAt]
}
