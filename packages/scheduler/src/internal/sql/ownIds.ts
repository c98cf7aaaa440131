/** The migration for jobs whose ids are not UUIDs. `jobIds.ts` states the same rules. */
import * as Migrations from "@kinora/persistence/Migrations"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { jobIdMax } from "../ids.ts"
import * as AddJob from "./addJob.ts"

/**
 * Ids of jobs that are not UUIDs. Builds without them read the keys of such jobs as their ids, and a job that they delay after a
 * failure, or place when it is due, keeps its key only. Replaces `scheduler_add_job`, which had a `uuid` as the id.
 */
export const ownIds: Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> = Effect.suspend(() =>
  Effect.andThen(addColumns, replaceFunction)
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const addColumns = Migrations.statements((sql) =>
  // `NOT VALID` does not read the tables: the jobs that exist have no such id.
  ["scheduler_job", "scheduler_delayed"].map((table) =>
    sql`
      ALTER TABLE ${sql.literal(table)}
        ADD COLUMN own_id text COLLATE "C",
        ADD CONSTRAINT ${sql.literal(`${table}_has_a_short_id`)}
          CHECK (length(own_id) BETWEEN 1 AND ${sql.literal(String(jobIdMax))}) NOT VALID
    `
  )
)

const replaceFunction = Migrations.statements((sql) => [
  sql`DROP FUNCTION scheduler_add_job(text, json, text, text, int4, uuid, timestamptz, int4, interval, int4)`,
  sql`
    CREATE FUNCTION scheduler_add_job(
      ${sql.literal(AddJob.required)}
      job text DEFAULT gen_random_uuid()::text,
      ${sql.literal(AddJob.options)}
    ) RETURNS text LANGUAGE plpgsql AS $$
    ${sql.literal(AddJob.begin)}
      ${sql.literal(AddJob.find)}
      INSERT INTO scheduler_delayed (
        id, own_id, lane_id, group_id, kind, payload, attempts_max, time_limit_ms, waiting_max, enqueued_at, due_at, try_at
      )
      VALUES (
        key, own_id, lane, job_group, kind, payload, attempts_max, ceil(extract(epoch FROM time_limit) * 1000), waiting_max,
        statement_timestamp(), at, at
      )
      ${sql.literal(AddJob.end)}
  `
])
