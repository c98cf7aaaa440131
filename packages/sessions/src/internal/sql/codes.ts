/** Statements on sign-in codes. */
import { Rows } from "@kinora/persistence"
import { Array as Arr, DateTime, Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import * as Session from "../../Session.ts"
import { within } from "./sessions.ts"

/** Inserts a code. */
export const insert = (sql: SqlClient.SqlClient, { createdAt, expiresAt, grant }: Session.SignInCode, hash: string) =>
  sql`
    INSERT INTO sessions_code (hash, subject, account, grants, created_at, expires_at)
    VALUES (
      ${hash}, ${Session.subjectOf(grant)}, ${Session.accountOf(grant)}, ${JSON.stringify(grant)}::text::json,
      ${DateTime.toDate(createdAt)}, ${DateTime.toDate(expiresAt)}
    )
  `.pipe(Effect.asVoid)

/** Counts the codes of a subject that have not expired. */
export const count = (sql: SqlClient.SqlClient, subject: string, now: DateTime.Utc) =>
  sql`
    SELECT count(*)::int4 AS count
    FROM sessions_code
    WHERE subject = ${subject} AND expires_at > ${DateTime.toDate(now)}
  `.pipe(
    decodeCount,
    // An aggregate without GROUP BY returns exactly one row.
    Effect.map(([row]) => row!.count)
  )

/** Deletes a code and returns it. A concurrent statement waits for the end of this transaction, and finds nothing if it commits. */
export const take = (sql: SqlClient.SqlClient, hash: string) =>
  sql`
    DELETE FROM sessions_code WHERE hash = ${hash} RETURNING grants::text AS grants, created_at, expires_at
  `.pipe(
    decodeCodes,
    Effect.map((rows) =>
      Option.map(Arr.head(rows), (row): Session.SignInCode => ({
        grant: row.grants,
        createdAt: row.created_at,
        expiresAt: row.expires_at
      }))
    )
  )

/** Deletes the codes within reach. */
export const remove = (sql: SqlClient.SqlClient, reach: Session.Reach) =>
  sql`
    WITH locked AS (
      SELECT hash FROM sessions_code WHERE ${within(sql, reach)} ORDER BY hash FOR UPDATE
    )
    DELETE FROM sessions_code USING locked WHERE sessions_code.hash = locked.hash
  `.pipe(Effect.asVoid)

/** Deletes codes that have expired. */
export const deleteExpired = (sql: SqlClient.SqlClient, now: DateTime.Utc, limit: number) =>
  sql`
    DELETE FROM sessions_code
    WHERE hash = ANY(ARRAY(
      SELECT hash
      FROM sessions_code
      WHERE expires_at <= ${DateTime.toDate(now)}
      ORDER BY expires_at
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    ))
    RETURNING 1
  `.pipe(Effect.map((rows) => rows.length))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeCount = Rows.decodeAll(Schema.Struct({ count: Schema.Int }))

const decodeCodes = Rows.decodeAll(Schema.Struct({
  grants: Schema.fromJsonString(Session.Grant),
  created_at: Schema.DateTimeUtcFromDate,
  expires_at: Schema.DateTimeUtcFromDate
}))
