/** Statements that delete old rows of `generation_job` and of the tables of usage, in sets of a given size. */
import { DatabaseTime, Deletion } from "@kinora/persistence"
import { mapSql } from "@kinora/persistence/StorageError"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { GenerationStore } from "../../GenerationStore.ts"

type Store = GenerationStore["Service"]

export const deleteEnded = (sql: SqlClient.SqlClient): Store["deleteEnded"] => (before, limit) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) => endedDeletion(sql, clock, before, limit)).pipe(
    Effect.map((rows) => rows.length),
    mapSql("GenerationStore.deleteEnded")
  )

/** The statement of `deleteEnded`. */
export const endedDeletion: Deletion.DeleteBefore = (sql, clock, before, limit) =>
  Deletion.statement(sql, {
    table: "generation_job",
    key: "id",
    where: sql`output IS NULL AND attempt_files_due IS NULL AND finished_at < ${clock.toDatabase(before)}`,
    orderBy: "finished_at",
    limit
  })

export const forget = (sql: SqlClient.SqlClient): Store["forget"] => (account, at, limit) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    WITH expiring AS (
      UPDATE generation_job SET result_expires_at = ${clock.toDatabase(at)}
      WHERE account = ${account} AND output IS NOT NULL AND result_expires_at > ${clock.toDatabase(at)}
    )
    ${
      Deletion.statement(sql, {
        table: "generation_job",
        key: "id",
        where: sql`account = ${account} AND output IS NULL AND attempt_files_due IS NULL AND finished_at IS NOT NULL`,
        orderBy: "id",
        limit
      })
    }
  `).pipe(
      Effect.map((rows) => rows.length),
      mapSql("GenerationStore.forget")
    )

export const deleteUsage = (sql: SqlClient.SqlClient): Store["deleteUsage"] => (day, limit) =>
  Effect.zipWith(
    usageDeletion(sql, "generation_usage", day, limit),
    usageDeletion(sql, "generation_key_usage", day, limit),
    (rows, byKey) => rows.length + byKey.length
  ).pipe(mapSql("GenerationStore.deleteUsage"))

/** Returns the statement that deletes the old rows of one table of usage. */
export const usageDeletion = (
  sql: SqlClient.SqlClient,
  table: "generation_usage" | "generation_key_usage",
  day: string,
  limit: number
): Statement.Statement<unknown> =>
  // By `ctid`, because a join over the columns of the key can read the whole table.
  Deletion.statement(sql, { table, key: "ctid", where: sql`day < ${day}::date`, orderBy: "day", limit })
