/** The statement that searches the generations of all accounts. */
import { Rows } from "@kinora/persistence"
import type { SqlClient } from "effect/sql"
import { GenerationId, Status } from "../../Generation.ts"
import type { SearchSelection } from "../../GenerationStore.ts"
import { columns } from "./generationRow.ts"

/**
 * Selects a page, newest first.
 *
 * The index starts with status and model, so each selected combination of them is one range of
 * the index, ordered by id. The page consists of the newest entries of these ranges. Without a
 * model, the models of each status are read from the index, one step per model.
 */
export const selectFound = (sql: SqlClient.SqlClient, selection: SearchSelection) => {
  const { limit, model, status } = selection
  const before = selection.before === undefined ? lastUuid : GenerationId.toUuid(selection.before)
  const from = selection.from === undefined ? firstUuid : GenerationId.toUuid(selection.from)
  if (status === undefined && model === undefined) {
    return sql`
      SELECT ${sql.literal(columns)} FROM generation_job
      WHERE id >= ${from}::uuid AND id < ${before}::uuid
      ORDER BY id DESC
      LIMIT ${limit}
    `
  }
  const statuses = Rows.array("text", status === undefined ? Status.literals : [status])
  const first = model === undefined
    ? sql`(SELECT min(job.model) FROM generation_job AS job WHERE job.status = status.name)`
    : sql`${model}::text`
  const next = model === undefined
    ? sql`(SELECT min(job.model) FROM generation_job AS job WHERE job.status = wanted.status AND job.model > wanted.model)`
    : sql`NULL`
  return sql`
    WITH RECURSIVE wanted (status, model) AS (
      SELECT status.name, ${first} FROM unnest(${statuses}) AS status (name)
      UNION ALL
      SELECT wanted.status, ${next} FROM wanted WHERE wanted.model IS NOT NULL
    )
    SELECT ${sql.literal(columns)} FROM generation_job
    WHERE id = ANY(ARRAY(
      SELECT newest.id FROM wanted
      CROSS JOIN LATERAL (
        SELECT job.id FROM generation_job AS job
        WHERE (job.status, job.model, job.id) < (wanted.status, wanted.model, ${before}::uuid)
          AND (job.status, job.model, job.id) >= (wanted.status, wanted.model, ${from}::uuid)
        ORDER BY job.status DESC, job.model DESC, job.id DESC
        LIMIT ${limit}
      ) AS newest
      WHERE wanted.model IS NOT NULL
      ORDER BY newest.id DESC
      LIMIT ${limit}
    ))
    ORDER BY id DESC
  `
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Sorts before every id. */
const firstUuid = "00000000-0000-0000-0000-000000000000"

/** Sorts after every id. */
const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff"
