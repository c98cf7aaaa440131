/** The statements that read a page of an account's generations. */
import { Rows } from "@kinora/persistence"
import type { SqlClient, Statement } from "effect/sql"
import { GenerationId, Kind, Plan, Status } from "../../Generation.ts"
import type { Filter, Selection } from "../../GenerationStore.ts"
import { columns } from "./generationRow.ts"

/** Selects a page, newest first. Row by row, since a plan that is made while the table is empty would read all of it for several rows. */
export const selectPage = (sql: SqlClient.SqlClient, account: string, selection: Selection) =>
  sql`
    SELECT job.*
    FROM (${idsOf(sql, account, selection)}) AS page
    CROSS JOIN LATERAL (SELECT ${sql.literal(columns)} FROM generation_job WHERE id = page.id LIMIT 1) AS job
    ORDER BY page.id DESC
  `

/** Selects the ids of a page, newest first. */
export const selectIds = (sql: SqlClient.SqlClient, account: string, selection: Selection) =>
  sql`${idsOf(sql, account, selection)}`

/** Selects those of these generations that match all filters, newest first. */
export const selectFiltered = (
  sql: SqlClient.SqlClient,
  ids: ReadonlyArray<string>,
  { key, limit, model, texts }: Filter & { readonly limit: number }
) => {
  const filters = [
    sql`id = ANY(${Rows.array("uuid", ids)})`,
    ...(model === undefined ? [] : [sql`model = ${model}`]),
    ...(key === undefined ? [] : [sql`key_id = ${key}`]),
    ...(texts === undefined ? [] : [
      sql`EXISTS (
        SELECT FROM unnest(${Rows.array("text", texts)}) AS wanted
        WHERE strpos(lower(prompt COLLATE "C"), wanted) > 0
      )`
    ])
  ]
  return sql`
    SELECT ${sql.literal(columns)}
    FROM generation_job
    WHERE ${sql.and(filters)}
    ORDER BY id DESC
    LIMIT ${limit}
  `
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * The ids of a page.
 *
 * The index starts with account, status, kind and plan, so each selected combination of
 * them is one range of the index, ordered by id. The page consists of the newest entries
 * of these ranges. At most `limit` entries of each of the 24 ranges are read, whatever
 * the number of generations and however rare the selected ones are.
 *
 * The range is one row comparison, and the order names all of its columns. With
 * equality on the first columns, a planner may instead scan ids of all accounts and
 * filter.
 *
 * One plan serves all values, and planning takes three times as long as the execution. So the values are hidden from the planner,
 * which then keeps the plan. For a hidden limit alone it would expect to read a tenth of each range, and compile the expressions of
 * the statement at each execution, so a constant is a limit too.
 */
const idsOf = (
  sql: SqlClient.SqlClient,
  account: string,
  { before, from, kind, limit, plan, status }: Selection
): Statement.Fragment =>
  sql`
    SELECT newest.id
    FROM unnest(${selected(status, Status.literals)}) AS wanted_status
    CROSS JOIN unnest(${selected(kind, Kind.literals)}) AS wanted_kind
    CROSS JOIN unnest(${selected(plan, Plan.literals)}) AS wanted_plan
    CROSS JOIN LATERAL (
      SELECT id FROM (
        SELECT job.id
        FROM generation_job AS job
        WHERE (job.account, job.status, job.kind, job.plan, job.id)
            < ((SELECT ${account}::text), wanted_status, wanted_kind, wanted_plan, ${
    before === undefined ? lastUuid : GenerationId.toUuid(before)
  }::uuid)
          AND (job.account, job.status, job.kind, job.plan, job.id)
            >= ((SELECT ${account}::text), wanted_status, wanted_kind, wanted_plan, ${
    from === undefined ? firstUuid : GenerationId.toUuid(from)
  }::uuid)
        ORDER BY job.account DESC, job.status DESC, job.kind DESC, job.plan DESC, job.id DESC
        LIMIT ${sql.literal(String(roundedUp(limit)))}
      ) AS bounded
      LIMIT (SELECT ${limit}::int8)
    ) AS newest
    ORDER BY newest.id DESC
    LIMIT (SELECT ${limit}::int8)
  `

/** Rounds up to a power of two, so that the statement has few different texts. */
const roundedUp = (limit: number): number => 2 ** (32 - Math.clz32(limit - 1))

/** Sorts before every id. */
const firstUuid = "00000000-0000-0000-0000-000000000000"

/** Sorts after every id. */
const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff"

/** Returns the wanted value, or all values if no filter is set. */
const selected = (wanted: string | undefined, all: ReadonlyArray<string>) =>
  Rows.array("text", wanted === undefined ? all : [wanted], { unknownLength: true })
