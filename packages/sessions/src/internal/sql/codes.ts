/** Statements on sign-in codes. */
import { DatabaseTime, Deletion, Pipelining, Rows } from "@kinora/persistence"
import { type Duration, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import * as Session from "../../Session.ts"
import type { FoundCode } from "../../SessionStore.ts"
import { within } from "./sessions.ts"

/** Inserts a code that is valid from now on. */
export const insert = (
  sql: SqlClient.SqlClient,
  grant: Session.Grant,
  hash: string,
  maxAge: Duration.Duration
) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    sql`
      INSERT INTO sessions_code (hash, subject, account, grants, created_at, expires_at)
      VALUES (
        ${hash}, ${Session.subjectOf(grant)}, ${Session.accountOf(grant)}, ${JSON.stringify(grant)}::text::json,
        ${now}, ${DatabaseTime.after(now, maxAge)}
      )
      RETURNING ${columns(sql)}, ${now} AS at
    `).pipe(
      decodeCodes,
      // The statement inserts one row.
      Effect.map(([row]) => toFound(row!).code)
    )

/** Counts the codes of a subject that have not expired. */
export const count = (sql: SqlClient.SqlClient, subject: string) =>
  Effect.flatMap(
    DatabaseTime.now,
    (now) => sql`SELECT count(*)::int4 AS count FROM sessions_code WHERE subject = ${subject} AND expires_at > ${now}`
  ).pipe(Rows.decodeCount)

/**
 * Deletes a code and returns it. As the first statement of a transaction, it is sent together with `BEGIN`. A concurrent statement
 * waits for the end of this transaction, and finds nothing if it commits.
 */
export const take = (sql: SqlClient.SqlClient, hash: string) =>
  Effect.zip(DatabaseTime.now, Pipelining.begun(sql)).pipe(
    Effect.flatMap(([now, begun]) =>
      sql`DELETE FROM sessions_code WHERE hash = ${hash} AND ${begun} RETURNING ${columns(sql)}, ${now} AS at`
    ),
    decodeCodes,
    Rows.first(toFound)
  )

/** Deletes the codes within reach. */
export const remove = (sql: SqlClient.SqlClient, reach: Session.Reach) =>
  Pipelining.write(
    sql,
    sql`
      WITH locked AS (
        SELECT hash FROM sessions_code WHERE ${within(sql, reach)} ORDER BY hash FOR UPDATE
      )
      DELETE FROM sessions_code USING locked WHERE sessions_code.hash = locked.hash
    `
  )

/** Deletes codes that have expired. */
export const deleteExpired = (sql: SqlClient.SqlClient, limit: number) =>
  Deletion.expired(sql, { table: "sessions_code", key: "hash", limit })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const columns = (sql: SqlClient.SqlClient) => sql.literal("grants::text AS grants, created_at, expires_at")

const CodeRow = Schema.Struct({
  grants: Schema.fromJsonString(Session.Grant),
  created_at: Rows.timestamptz,
  expires_at: Rows.timestamptz,
  at: Rows.timestamptz
})

const decodeCodes = Rows.decodeAll(CodeRow)

const toFound = (row: typeof CodeRow.Type): FoundCode => ({
  code: { grant: row.grants, createdAt: row.created_at, expiresAt: row.expires_at },
  at: row.at
})
