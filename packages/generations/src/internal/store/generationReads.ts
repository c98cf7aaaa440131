/** Statements that read `generation_job`, `generation_usage` and `generation_key_usage`. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { mapSql } from "@kinora/persistence/StorageError"
import { Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { GenerationId, Kind, Output, Plan } from "../../Generation.ts"
import type { GenerationStore } from "../../GenerationStore.ts"
import { selectFiltered, selectIds, selectPage } from "./generationPage.ts"
import { columns, decodeGenerations } from "./generationRow.ts"
import { selectFound } from "./generationSearch.ts"

type Store = GenerationStore["Service"]

export const find = (sql: SqlClient.SqlClient): Store["find"] => (ids) =>
  sql`
    SELECT ${sql.literal(columns)}
    FROM generation_job
    WHERE id = ANY(${Rows.array("uuid", ids.map(GenerationId.toUuid))})
  `.pipe(decodeGenerations, mapSql("GenerationStore.find"))

export const list = (sql: SqlClient.SqlClient): Store["list"] => (account, selection) =>
  selectPage(sql, account, selection).pipe(decodeGenerations, mapSql("GenerationStore.list"))

export const filter = (sql: SqlClient.SqlClient): Store["filter"] => (account, selection) =>
  Effect.gen(function*() {
    const { readMax } = selection
    const read = yield* decodeIds(selectIds(sql, account, { ...selection, limit: readMax }))
    const ids = read.map(({ id }) => id)
    const generations = ids.length === 0 ? [] : yield* decodeGenerations(selectFiltered(sql, ids, selection))
    const last = ids[readMax - 1]
    return { generations, last: last === undefined ? undefined : GenerationId.fromUuid(last) }
  }).pipe(mapSql("GenerationStore.filter"))

export const search = (sql: SqlClient.SqlClient): Store["search"] => (selection) =>
  selectFound(sql, selection).pipe(decodeGenerations, mapSql("GenerationStore.search"))

export const usage = (sql: SqlClient.SqlClient): Store["usage"] => (account, { from, to }) =>
  sql`
    SELECT
      to_char(day, 'YYYY-MM-DD') AS day, plan, model, kind,
      completed::text, failed::text, cancelled::text, credits::text
    FROM generation_usage
    WHERE account = ${account} AND day BETWEEN ${from}::date AND ${to}::date
    ORDER BY generation_usage.day, plan COLLATE "C", model COLLATE "C", kind COLLATE "C"
  `.pipe(decodeUsage, mapSql("GenerationStore.usage"))

export const usageByKey = (sql: SqlClient.SqlClient): Store["usageByKey"] => (account, { from, to }, limit) =>
  // One statement, so that jobs which end meanwhile are in both tables or in none. The rest of each total has no key.
  sql`
    WITH total AS (
      SELECT * FROM generation_usage WHERE account = ${account} AND day BETWEEN ${from}::date AND ${to}::date
    ), by_key AS (
      SELECT * FROM generation_key_usage WHERE account = ${account} AND day BETWEEN ${from}::date AND ${to}::date
    ), counted AS (
      SELECT day, plan, model, kind, key_id, completed, failed, cancelled, credits FROM by_key
      UNION ALL
      SELECT
        day, plan, model, kind, NULL,
        total.completed - coalesce(sum(by_key.completed), 0), total.failed - coalesce(sum(by_key.failed), 0),
        total.cancelled - coalesce(sum(by_key.cancelled), 0), total.credits - coalesce(sum(by_key.credits), 0)
      FROM total LEFT JOIN by_key USING (account, day, plan, model, kind)
      GROUP BY day, plan, model, kind, total.completed, total.failed, total.cancelled, total.credits
    )
    SELECT
      to_char(day, 'YYYY-MM-DD') AS day, plan, model, kind, key_id AS key,
      completed::text, failed::text, cancelled::text, credits::text
    FROM counted
    WHERE completed + failed + cancelled > 0
    ORDER BY counted.day, plan COLLATE "C", model COLLATE "C", kind COLLATE "C", key_id COLLATE "C" NULLS FIRST
    LIMIT ${limit}
  `.pipe(decodeKeyUsage, mapSql("GenerationStore.usageByKey"))

export const waiting = (sql: SqlClient.SqlClient): Store["waiting"] => (models, limit, except = []) =>
  sql`
    SELECT id, account, plan
    FROM generation_job
    WHERE model = ANY(${Rows.array("text", models)})
      AND status IN ('pending', 'queued')
      AND id <> ALL(${Rows.array("uuid", except.map(GenerationId.toUuid))})
    ORDER BY id
    LIMIT ${limit}
  `.pipe(
    decodeSubjects,
    Effect.map((rows) => rows.map((row) => ({ ...row, id: GenerationId.fromUuid(row.id) }))),
    mapSql("GenerationStore.waiting")
  )

export const expired = (sql: SqlClient.SqlClient): Store["expired"] => (now, limit) =>
  // `greatest` ignores nulls, so a result that was never put off is due when its window ends.
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    SELECT id, output
    FROM generation_job
    WHERE output IS NOT NULL AND greatest(result_expires_at, put_off_until) <= ${clock.toDatabase(now)}
    ORDER BY greatest(result_expires_at, put_off_until)
    LIMIT ${limit}
  `).pipe(
      decodeExpired,
      Effect.map((rows) =>
        rows.map(({ id, output }) => ({
          id: GenerationId.fromUuid(id),
          output: Option.getOrUndefined(decodeOutput(output))
        }))
      ),
      mapSql("GenerationStore.expired")
    )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const UsageFields = {
  day: Schema.String,
  plan: Plan,
  model: Schema.String,
  kind: Kind,
  completed: Schema.NumberFromString,
  failed: Schema.NumberFromString,
  cancelled: Schema.NumberFromString,
  credits: Schema.NumberFromString
}

const decodeUsage = Rows.decodeAll(Schema.Struct(UsageFields))

const decodeKeyUsage = Rows.decodeAll(Schema.Struct({ ...UsageFields, key: Schema.NullOr(Schema.String) }))

const decodeIds = Rows.decodeAll(Schema.Struct({ id: Schema.String }))

const decodeSubjects = Rows.decodeAll(Schema.Struct({ id: Schema.String, account: Schema.String, plan: Plan }))

/** Each output is decoded separately, so that a damaged one does not hide the others. */
const decodeExpired = Rows.decodeAll(Schema.Struct({ id: Schema.String, output: Schema.Unknown }))

const decodeOutput = Schema.decodeUnknownOption(Output)
