/** Expressions and the migration of priorities. `internal/priorities.ts` has their rules. */
import * as Migrations from "@kinora/persistence/Migrations"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { priorityMax } from "../priorities.ts"
import * as AddJob from "./addJob.ts"

/** SQL expression for the age of a queued job in its lane, as a position. */
export const ageInSql = "coalesce(own_position, position)"

/** SQL condition for a queued job that comes before those of its lane that are in the order of their places. */
export const isAheadInSql = "state = 'queued' AND started_at IS NULL AND (priority > 0 OR own_position IS NOT NULL)"

/**
 * Priorities of jobs. Workers of earlier builds claim the jobs of a lane in the order of their places, and a job that they delay
 * after a failure, or place when it is due, has the priority 0. Replaces `scheduler_add_job` by one with a further parameter, which
 * calls of earlier builds need not give, and which the same roles may call.
 */
export const priorities: Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> = Effect.suspend(() =>
  Effect.all([addColumns, createFunction, replaceFunction], { discard: true })
)

/** The index of queued jobs with priorities. It is empty in a service without priorities. */
export const indexes = {
  scheduler_job_ahead: `ON scheduler_job (lane_id, kind, priority DESC, (${ageInSql})) WHERE ${isAheadInSql}`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const addColumns = Migrations.statements((sql) => [
  sql`ALTER TABLE scheduler_job ADD COLUMN own_position int8`,
  // `NOT VALID` does not read the tables: the jobs that exist have the default.
  ...["scheduler_job", "scheduler_delayed"].map((table) =>
    sql`
      ALTER TABLE ${sql.literal(table)}
        ADD COLUMN priority int2 NOT NULL DEFAULT 0,
        ADD CONSTRAINT ${sql.literal(`${table}_has_a_priority`)}
          CHECK (priority BETWEEN 0 AND ${sql.literal(String(priorityMax))}) NOT VALID
    `
  )
])

const oldArguments = "text, json, text, text, int4, text, timestamptz, int4, interval, int4"

const newArguments = `${oldArguments}, int4`

const createFunction = Migrations.statements((sql) => [
  sql`
    CREATE FUNCTION scheduler_add_job(
      kind text, payload json, lane text, job_group text, cap int4,
      job text DEFAULT gen_random_uuid()::text,
      ${sql.literal(AddJob.options)},
      priority int4 DEFAULT 0
    ) RETURNS text LANGUAGE plpgsql AS $$
    ${sql.literal(AddJob.begin)}
      IF priority IS NULL OR priority NOT BETWEEN 0 AND ${sql.literal(String(priorityMax))} THEN
        RAISE EXCEPTION 'The priority of a job is a whole number from 0 to ${sql.literal(String(priorityMax))}'
          USING ERRCODE = 'invalid_parameter_value';
      END IF;
      ${sql.literal(AddJob.find)}
      INSERT INTO scheduler_delayed (
        id, own_id, lane_id, group_id, kind, priority, payload, attempts_max, time_limit_ms, waiting_max, enqueued_at, due_at,
        try_at
      )
      VALUES (
        key, own_id, lane, job_group, kind, priority, payload, attempts_max, ceil(extract(epoch FROM time_limit) * 1000),
        waiting_max, statement_timestamp(), at, at
      )
      ${sql.literal(AddJob.end)}
  `
])

const replaceFunction = Migrations.statements((sql) => [
  sql`REVOKE EXECUTE ON FUNCTION scheduler_add_job(${sql.literal(newArguments)}) FROM PUBLIC`,
  // The rights of roles would be lost with the old function.
  sql`
    DO $$
    DECLARE
      granted record;
    BEGIN
      FOR granted IN
        SELECT coalesce(quote_ident(role.rolname), 'PUBLIC') AS role, acl.is_grantable
        FROM pg_proc AS added
        CROSS JOIN aclexplode(coalesce(added.proacl, acldefault('f', added.proowner))) AS acl
        LEFT JOIN pg_roles AS role ON role.oid = acl.grantee
        WHERE added.oid = 'scheduler_add_job(${sql.literal(oldArguments)})'::regprocedure
          AND acl.grantee <> added.proowner
      LOOP
        EXECUTE format(
          'GRANT EXECUTE ON FUNCTION %s TO %s%s',
          'scheduler_add_job(${sql.literal(newArguments)})'::regprocedure,
          granted.role,
          CASE WHEN granted.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
        );
      END LOOP;
    END
    $$
  `,
  sql`DROP FUNCTION scheduler_add_job(${sql.literal(oldArguments)})`
])
