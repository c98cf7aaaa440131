/** Statements on lines of keys: their budgets and what they have spent. */
import * as SqlApiKeyStore from "@kinora/api-keys/SqlApiKeyStore"
import { Deletion, Pipelining, Rows } from "@kinora/persistence"
import { type DateTime, Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { AccountId } from "../../Account.ts"
import type { BudgetOfLine } from "../../AccountStore.ts"
import { KeyId } from "../../ApiKey.ts"
import { type KeyBudget, type LineBudget, unlimited } from "../../KeyBudget.ts"
import type { Day, DayUse, KeyLine, Use } from "../../KeySpending.ts"
import { keyTable } from "./keyTable.ts"

/** The columns of a budget, selected from a table that is named `line`. */
export const budgetColumns = `
  line.credits_per_day::float8 AS credits_per_day, line.credits_per_month::float8 AS credits_per_month,
  line.jobs_per_day::float8 AS jobs_per_day, line.jobs_per_month::float8 AS jobs_per_month
`

/** Joins the line of a key to `key`. A line that never had a budget has no row. */
export const lineJoin = "LEFT JOIN accounts_key_line line ON line.id = coalesce(key.line, key.id)"

/** The fields of a row with `budgetColumns`. */
export const budgetFields = {
  credits_per_day: Schema.NullOr(Schema.Int),
  credits_per_month: Schema.NullOr(Schema.Int),
  jobs_per_day: Schema.NullOr(Schema.Int),
  jobs_per_month: Schema.NullOr(Schema.Int)
}

/** Returns the budget of a row: `unlimited` itself, if nothing is limited. */
export const toBudget = (row: Schema.Struct.Type<typeof budgetFields>): KeyBudget =>
  row.credits_per_day === null && row.credits_per_month === null && row.jobs_per_day === null &&
    row.jobs_per_month === null
    ? unlimited
    : {
      creditsPerDay: Option.fromNullOr(row.credits_per_day),
      creditsPerMonth: Option.fromNullOr(row.credits_per_month),
      jobsPerDay: Option.fromNullOr(row.jobs_per_day),
      jobsPerMonth: Option.fromNullOr(row.jobs_per_month)
    }

/** Sets the budget of a line. */
export const saveBudget = (sql: SqlClient.SqlClient, account: AccountId, line: KeyId, budget: LineBudget) =>
  sql`
    INSERT INTO accounts_key_line ${
    Rows.unnest([budget], {
      id: ["uuid", () => KeyId.toUuid(line)],
      account: ["uuid", () => AccountId.toUuid(account)],
      credits_per_day: ["int8?", ({ budget }) => Option.getOrNull(budget.creditsPerDay)],
      credits_per_month: ["int8?", ({ budget }) => Option.getOrNull(budget.creditsPerMonth)],
      jobs_per_day: ["int8?", ({ budget }) => Option.getOrNull(budget.jobsPerDay)],
      jobs_per_month: ["int8?", ({ budget }) => Option.getOrNull(budget.jobsPerMonth)],
      credits_per_day_max: ["int8?", ({ budgetMax }) => Option.getOrNull(budgetMax.creditsPerDay)],
      credits_per_month_max: ["int8?", ({ budgetMax }) => Option.getOrNull(budgetMax.creditsPerMonth)],
      jobs_per_day_max: ["int8?", ({ budgetMax }) => Option.getOrNull(budgetMax.jobsPerDay)],
      jobs_per_month_max: ["int8?", ({ budgetMax }) => Option.getOrNull(budgetMax.jobsPerMonth)]
    })
  }
    ON CONFLICT (id) DO UPDATE
    SET credits_per_day = excluded.credits_per_day, credits_per_month = excluded.credits_per_month,
      jobs_per_day = excluded.jobs_per_day, jobs_per_month = excluded.jobs_per_month,
      credits_per_day_max = excluded.credits_per_day_max, credits_per_month_max = excluded.credits_per_month_max,
      jobs_per_day_max = excluded.jobs_per_day_max, jobs_per_month_max = excluded.jobs_per_month_max
  `.pipe(Effect.asVoid)

/** Finds the budgets of lines. */
export const findBudgets = (sql: SqlClient.SqlClient, lines: ReadonlyArray<KeyId>) =>
  sql`
    SELECT line.id, ${sql.literal(budgetColumns)}, ${sql.literal(budgetMaxColumns)}
    FROM accounts_key_line line
    WHERE line.id = ANY(${uuids(lines)})
  `.pipe(decodeBudgets, Effect.map((rows) => rows.map(toLineBudget)))

/**
 * Deletes keys that ended before `before`, and a line with its last key. If two sweeps delete the last two keys of a line at
 * the same time, the line stays until its account is erased.
 */
export const deleteEnded = (sql: SqlClient.SqlClient, before: DateTime.Utc, limit: number) =>
  sql`
    WITH deleted AS (${SqlApiKeyStore.deleteEnded(sql, keyTable, before, limit)}), ended AS (
      DELETE FROM accounts_key_line line
      USING (SELECT DISTINCT line FROM deleted) AS former
      WHERE line.id = former.line AND NOT EXISTS (
        SELECT
        FROM accounts_key key
        WHERE (key.line = line.id OR key.id = line.id) AND key.id NOT IN (SELECT id FROM deleted)
      )
    )
    SELECT id FROM deleted
  `.pipe(Effect.map((rows) => rows.length))

/** Locks lines in the order of their ids. */
export const lockLines = (sql: SqlClient.SqlClient, lines: ReadonlyArray<KeyId>) =>
  sql`
    SELECT id
    FROM accounts_key_line
    WHERE id = ANY(${uuids(lines)})
    ORDER BY id
    FOR UPDATE
  `.pipe(Effect.asVoid)

/** Finds lines with their spending from a day on. */
export const findLines = (sql: SqlClient.SqlClient, lines: ReadonlyArray<KeyId>, since: Day) =>
  sql`
    SELECT line.id, ${sql.literal(budgetColumns)}, spending.day::text AS day,
      spending.credits::float8 AS credits, spending.jobs::float8 AS jobs
    FROM accounts_key_line line
    LEFT JOIN accounts_key_spending spending ON spending.line = line.id AND spending.day >= ${since}::date
    WHERE line.id = ANY(${uuids(lines)})
  `.pipe(decodeLines, Effect.map(toLines))

/** Sets what lines have used on days. */
export const saveUse = (sql: SqlClient.SqlClient, uses: ReadonlyArray<DayUse>) =>
  Pipelining.write(
    sql,
    sql`
      INSERT INTO accounts_key_spending ${
      Rows.unnest(uses, {
        line: ["uuid", ({ line }) => KeyId.toUuid(line)],
        ...Rows.fields({ day: "date", credits: "int8", jobs: "int8" })
      })
    }
      ON CONFLICT (line, day) DO UPDATE SET credits = excluded.credits, jobs = excluded.jobs
    `
  )

/** Deletes the spending of days before `before`. */
export const deleteSpending = (sql: SqlClient.SqlClient, before: Day, limit: number) =>
  Deletion.run(sql, {
    table: "accounts_key_spending",
    key: "ctid",
    where: sql`day < ${before}::date`,
    orderBy: "day",
    limit
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const uuids = (lines: ReadonlyArray<KeyId>) => Rows.array("uuid", lines.map(KeyId.toUuid), { unknownLength: true })

/** The columns of the limits that an operator has set. */
const budgetMaxColumns = `
  line.credits_per_day_max::float8 AS credits_per_day_max, line.credits_per_month_max::float8 AS credits_per_month_max,
  line.jobs_per_day_max::float8 AS jobs_per_day_max, line.jobs_per_month_max::float8 AS jobs_per_month_max
`

/** The fields of a row with `budgetMaxColumns`. */
const budgetMaxFields = {
  credits_per_day_max: Schema.NullOr(Schema.Int),
  credits_per_month_max: Schema.NullOr(Schema.Int),
  jobs_per_day_max: Schema.NullOr(Schema.Int),
  jobs_per_month_max: Schema.NullOr(Schema.Int)
}

/** Returns the limits of a row that an operator has set. */
const toBudgetMax = (row: Schema.Struct.Type<typeof budgetMaxFields>): KeyBudget =>
  toBudget({
    credits_per_day: row.credits_per_day_max,
    credits_per_month: row.credits_per_month_max,
    jobs_per_day: row.jobs_per_day_max,
    jobs_per_month: row.jobs_per_month_max
  })

const BudgetRow = Schema.Struct({ id: Schema.String, ...budgetFields, ...budgetMaxFields })

const decodeBudgets = Rows.decodeAll(BudgetRow)

const toLineBudget = (row: typeof BudgetRow.Type): BudgetOfLine => ({
  line: KeyId.fromUuid(row.id),
  budget: toBudget(row),
  budgetMax: toBudgetMax(row)
})

/** A line with one of its days, or without any. */
const LineRow = Schema.Struct({
  id: Schema.String,
  ...budgetFields,
  day: Schema.NullOr(Schema.String),
  credits: Schema.NullOr(Schema.Int),
  jobs: Schema.NullOr(Schema.Int)
})

const decodeLines = Rows.decodeAll(LineRow)

const toLines = (rows: ReadonlyArray<typeof LineRow.Type>): ReadonlyArray<KeyLine> => {
  const lines = new Map<string, KeyLine & { readonly spending: Map<Day, Use> }>()
  for (const { credits, day, id, jobs, ...budget } of rows) {
    const line = lines.get(id) ??
      { id: KeyId.fromUuid(id), budget: toBudget(budget), spending: new Map(), changed: new Set() }
    lines.set(id, line)
    if (day !== null && credits !== null && jobs !== null) line.spending.set(day, { credits, jobs })
  }
  return Array.from(lines.values())
}
