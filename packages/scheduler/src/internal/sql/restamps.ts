/** The statement that sets the shares of queued jobs. */
import * as Rows from "@kinora/persistence/Rows"
import type { SqlClient, Statement } from "effect/sql"
import { aheadMax, type Restamp } from "../shares.ts"

/**
 * Sets the shares of queued jobs by the rule of `restamp` (`internal/shares.ts`). Skips locked
 * jobs, which are being claimed: their shares no longer matter, or they have got other places. Does not
 * count the jobs with the keys `ended`, which the same statement deletes but still sees. `lanes`: rows of `Restamp` with the
 * alias `lane`. Returns the kind of each job.
 */
export const restampStatement = (
  sql: SqlClient.SqlClient,
  lanes: Statement.Fragment,
  ended: Statement.Fragment
) =>
  sql`
    UPDATE scheduler_job AS job SET share = next.share
    FROM (
      SELECT locked.id, ranked.share
      FROM (
        SELECT
          held.id, held.position, held.share AS before, held.state, held.started_at,
          least(row_number() OVER (PARTITION BY lane.id ORDER BY held.position) - 1, ${aheadMax})::float8
            / lane.weight AS share
        FROM ${lanes}
        CROSS JOIN LATERAL (
          ${heldInState(sql, "queued", ended)} UNION ALL ${heldInState(sql, "running", ended)}
          ORDER BY position
          LIMIT lane."limit"
        ) AS held
      ) AS ranked
      CROSS JOIN LATERAL (
        SELECT id FROM scheduler_job WHERE id = ranked.id AND state = 'queued' AND position = ranked.position
        FOR UPDATE SKIP LOCKED
      ) AS locked
      WHERE ranked.state = 'queued' AND ranked.started_at IS NULL AND ranked.before <> ranked.share
    ) AS next
    WHERE job.id = next.id
    RETURNING job.kind
  `

/** Lanes for `restampStatement`. */
export const restampTable = (restamped: ReadonlyArray<Restamp>): Statement.Fragment =>
  Rows.table("lane", restamped, restampColumns)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Jobs of a state, in the order of its index. */
const heldInState = (sql: SqlClient.SqlClient, state: "queued" | "running", ended: Statement.Fragment) =>
  sql`(
    SELECT id, position, state, started_at, share FROM scheduler_job
    WHERE lane_id = lane.id AND state = ${sql.literal(`'${state}'`)} AND id <> ALL(${ended})
    ORDER BY position
    LIMIT lane."limit"
  )`

const restampColumns: Rows.Columns<Restamp> = {
  id: ["text", ({ lane }) => lane],
  ...Rows.fields({ weight: "int4", limit: "int8?" })
}
