/** The statement that gives free slots to pending jobs. `internal/swaps.ts` has the same rules as pure functions. */
import * as Rows from "@kinora/persistence/Rows"
import { Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { Promotion } from "../laneChanges.ts"
import { aheadMax } from "../shares.ts"
import * as JobIds from "./jobIds.ts"
import { offeredKinds } from "./workers.ts"

/** Queues pending jobs (`promoteStatement`), and the jobs beside them. */
export const promote = (...parameters: Parameters<typeof promoteStatement>) =>
  decodePromoted(promoteStatement(...parameters))

/**
 * Queues pending jobs: those that a worker claims first (`internal/swaps.ts`). Locks none of them,
 * since pending jobs change only under the lock of their lane.
 */
export const promoteStatement = (
  sql: SqlClient.SqlClient,
  promotions: ReadonlyArray<Promotion>,
  now: Statement.Fragment
) =>
  sql`
    WITH ${inLine(sql, promotions, now)}, in_line AS (
      ${chosen(sql, conditions.length, sql`id, position, lane_id, true AS promoted`)}
      UNION ALL
      SELECT id, position, lane_id, false FROM scheduler_job
      WHERE id = ANY(${JobIds.keys(promotions.flatMap(({ beside }) => beside))})
      ORDER BY position
    ), shared AS (
      SELECT
        in_line.id, in_line.promoted, in_line.position,
        least(room.ahead + row_number() OVER (PARTITION BY in_line.lane_id ORDER BY in_line.position) - 1, ${aheadMax})::float8
          / room.weight AS share
      FROM in_line
      JOIN ${roomTable(promotions)} ON room.lane_id = in_line.lane_id
      ORDER BY in_line.position
    ), next AS MATERIALIZED (
      SELECT id, promoted, share, nextval('scheduler_position') AS position FROM shared
    )
    UPDATE scheduler_job AS job SET state = 'queued', position = next.position, share = next.share
    FROM next
    -- The planner cannot estimate the rows of \`next\`, and reads the whole table for too high
    -- an estimate. The array makes it use the primary key.
    WHERE job.id = ANY(ARRAY(SELECT id FROM next)) AND job.id = next.id
    RETURNING ${sql.literal(JobIds.idInSql)} AS id, job.kind, next.promoted
  `

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Conditions on the kinds of pending jobs. Those of the first one get slots before those of the next. */
const conditions = ["kind = ANY", "kind <> ALL"]

/**
 * The next jobs of each condition, in one part of a statement each. Each fills up what those before it have left. If no worker
 * claims anything, as while the only one drains, the first condition is false for all jobs, and none is read for it.
 */
const inLine = (
  sql: SqlClient.SqlClient,
  promotions: ReadonlyArray<Promotion>,
  now: Statement.Fragment
) =>
  sql.csv(conditions.map((condition, index) =>
    sql`${sql.literal(`range_${index}`)} AS MATERIALIZED (
      SELECT job.id, job.position, job.lane_id
      FROM ${roomTable(promotions)}
      CROSS JOIN LATERAL (
        SELECT id, position, lane_id FROM scheduler_job
        WHERE lane_id = room.lane_id AND state = 'pending' AND ${sql.literal(condition)}(${offeredKinds(sql, now)})
          ${index === 0 ? sql`AND cardinality(${offeredKinds(sql, now)}) > 0` : sql``}
        ORDER BY priority DESC, position
        LIMIT room.count ${index === 0 ? sql`` : sql`- (${countChosen(sql, index)})`}
      ) AS job
    )`
  ))

/** The jobs of the first conditions. */
const chosen = (sql: SqlClient.SqlClient, count: number, columns: Statement.Fragment) =>
  sql.join(" UNION ALL ", false)(
    Array.from({ length: count }, (_, index) => sql`SELECT ${columns} FROM ${sql.literal(`range_${index}`)}`)
  )

const countChosen = (sql: SqlClient.SqlClient, count: number) =>
  sql`SELECT count(*) FROM (${chosen(sql, count, sql`lane_id`)}) AS chosen WHERE chosen.lane_id = room.lane_id`

const roomColumns: Rows.Columns<Promotion> = {
  lane_id: ["text", ({ lane }) => lane],
  ...Rows.fields({ count: "int4", ahead: "int4", weight: "int4" })
}

const roomTable = (promotions: ReadonlyArray<Promotion>) => Rows.table("room", promotions, roomColumns)

const decodePromoted = Rows.decodeAll(
  Schema.Struct({ id: Schema.String, kind: Schema.String, promoted: Schema.Boolean })
)
