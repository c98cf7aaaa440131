/**
 * Parts of the function `scheduler_add_job` that several migrations contain. A migration that databases have run must not change,
 * so neither must these texts: a later migration that needs another one has its own.
 */
import { jobIdMax } from "../ids.ts"

/** Parameters without a default. */
export const required = `kind text,
      payload json,
      lane text,
      job_group text,
      cap int4,`

/** Parameters with defaults, besides the id. */
export const options = `run_at timestamptz DEFAULT NULL,
      attempts_max int4 DEFAULT 3,
      time_limit interval DEFAULT NULL,
      waiting_max int4 DEFAULT NULL`

/** The begin of the function since ids can be any text: its variables, and the check of the id. */
export const begin = `#variable_conflict use_variable
    DECLARE
      at timestamptz := coalesce(run_at, statement_timestamp());
      found text;
      hash bytea;
      key uuid;
      own_id text;
    BEGIN
      IF job IS NULL OR length(job) NOT BETWEEN 1 AND ${jobIdMax} THEN
        RAISE EXCEPTION 'The id of a job has 1 to ${jobIdMax} characters'
          USING ERRCODE = 'invalid_parameter_value';
      END IF;`

/** Creates the lane if it is missing, and refuses a lane of another group. Locks the group before a lane is inserted. */
export const lane = `SELECT existing.group_id INTO found FROM scheduler_lane AS existing WHERE existing.id = lane;
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
      END IF;`

/**
 * Sets the key of the row, and `own_id` if the id is not a UUID; `jobIds.ts` states the same rules. Finds or creates the lane, and
 * returns the id of a job that exists.
 */
export const find = `IF job ~ '^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' THEN
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
      ${lane}
      IF EXISTS (SELECT 1 FROM scheduler_job AS existing WHERE existing.id = key) THEN
        RETURN job;
      END IF;`

/** The end of the function, which wakes the workers. */
export const end = `ON CONFLICT DO NOTHING;
      PERFORM pg_notify('kinora_' || 'scheduler_job'::regclass::oid, '');
      RETURN job;
    END
    $$`
