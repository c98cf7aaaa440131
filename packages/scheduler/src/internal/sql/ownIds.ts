/** The migration for jobs whose ids are no UUIDs. `jobIds.ts` states the same rules. */
import * as Migrations from "@kinora/persistence/Migrations"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { jobIdMax } from "../ids.ts"

/**
 * Ids of jobs that are no UUIDs. Builds without them read the keys of such jobs as their ids, and a job that they delay after a
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
      kind text,
      payload json,
      lane text,
      job_group text,
      cap int4,
      job text DEFAULT gen_random_uuid()::text,
      run_at timestamptz DEFAULT NULL,
      attempts_max int4 DEFAULT 3,
      time_limit interval DEFAULT NULL,
      waiting_max int4 DEFAULT NULL
    ) RETURNS text LANGUAGE plpgsql AS $$
    #variable_conflict use_variable
    DECLARE
      at timestamptz := coalesce(run_at, statement_timestamp());
      found text;
      hash bytea;
      key uuid;
      own_id text;
    BEGIN
      IF job IS NULL OR length(job) NOT BETWEEN 1 AND ${sql.literal(String(jobIdMax))} THEN
        RAISE EXCEPTION 'The id of a job has 1 to ${sql.literal(String(jobIdMax))} characters'
          USING ERRCODE = 'invalid_parameter_value';
      END IF;
      IF job ~ '^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' THEN
        key := job::uuid;
        -- In lower case, as others find it.
        job := key::text;
      ELSE
        own_id := job;
        hash := substr(sha256(convert_to(job, 'UTF8')), 1, 16);
        hash := set_byte(hash, 6, get_byte(hash, 6) & 15 | 128);
        hash := set_byte(hash, 8, get_byte(hash, 8) & 63 | 128);
        key := encode(hash, 'hex')::uuid;
      END IF;
      SELECT existing.group_id INTO found FROM scheduler_lane AS existing WHERE existing.id = lane;
      IF found IS NULL THEN
        INSERT INTO scheduler_group (id, waiting) VALUES (job_group, 0) ON CONFLICT DO NOTHING;
        PERFORM 1 FROM scheduler_group AS locked WHERE locked.id = job_group FOR UPDATE;
        INSERT INTO scheduler_lane (id, group_id, cap, held, held_max, waiting)
        VALUES (lane, job_group, cap, 0, cap, 0)
        ON CONFLICT DO NOTHING;
        SELECT existing.group_id INTO found FROM scheduler_lane AS existing WHERE existing.id = lane;
      END IF;
      IF found <> job_group THEN
        RAISE EXCEPTION 'The lane % is of the group %, not of %', lane, found, job_group
          USING ERRCODE = 'invalid_parameter_value';
      END IF;
      IF EXISTS (SELECT 1 FROM scheduler_job AS existing WHERE existing.id = key) THEN
        RETURN job;
      END IF;
      INSERT INTO scheduler_delayed (
        id, own_id, lane_id, group_id, kind, payload, attempts_max, time_limit_ms, waiting_max, enqueued_at, due_at, try_at
      )
      VALUES (
        key, own_id, lane, job_group, kind, payload, attempts_max, ceil(extract(epoch FROM time_limit) * 1000), waiting_max,
        statement_timestamp(), at, at
      )
      ON CONFLICT DO NOTHING;
      PERFORM pg_notify('kinora_' || 'scheduler_job'::regclass::oid, '');
      RETURN job;
    END
    $$
  `
])
