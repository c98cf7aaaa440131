/** The statement that reads a page of an account's generations. */
import type { SqlClient } from "effect/sql"
import { GenerationId, Kind, Plan, Status } from "../../Generation.ts"
import type { Selection } from "../../GenerationStore.ts"
import { columns } from "./generationRow.ts"

/**
 * Status, kind and plan lead the index, so each combination of them that is selected
 * is one range of it, newest first. A page is the newest of the ranges' newest: at
 * most `limit` entries are read of each of the 24, however many generations there
 * are and however rare those that are wanted.
 *
 * The range is written as one, and so is its order: told that all but the id are
 * equal, a planner may walk the ids of everybody and look for those that are wanted.
 */
export const listing = (
  sql: SqlClient.SqlClient,
  account: string,
  { before, kind, limit, plan, status }: Selection
) =>
  sql`
    SELECT ${sql.literal(columns)}
    FROM generation_job
    WHERE id = ANY(ARRAY(
      SELECT newest.id
      FROM unnest(${some(status, Status.literals)}::text[]) AS wanted_status
      CROSS JOIN unnest(${some(kind, Kind.literals)}::text[]) AS wanted_kind
      CROSS JOIN unnest(${some(plan, Plan.literals)}::text[]) AS wanted_plan
      CROSS JOIN LATERAL (
        SELECT job.id
        FROM generation_job AS job
        WHERE (job.account, job.status, job.kind, job.plan, job.id)
            < (${account}, wanted_status, wanted_kind, wanted_plan, ${
    before === undefined ? lastUuid : GenerationId.toUuid(before)
  }::uuid)
          AND (job.account, job.status, job.kind, job.plan, job.id)
            >= (${account}, wanted_status, wanted_kind, wanted_plan, ${firstUuid}::uuid)
        ORDER BY job.account DESC, job.status DESC, job.kind DESC, job.plan DESC, job.id DESC
        LIMIT ${limit}
      ) AS newest
      ORDER BY newest.id DESC
      LIMIT ${limit}
    ))
    ORDER BY id DESC
  `

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Comes before all that are made. */
const firstUuid = "00000000-0000-0000-0000-000000000000"

/** Comes after all that are made. */
const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff"

const some = <A>(wanted: A | undefined, all: ReadonlyArray<A>): ReadonlyArray<A> =>
  wanted === undefined ? all : [wanted]
