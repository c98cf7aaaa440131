/** Statements on sessions. */
import { DatabaseTime, Deletion, Pipelining, Rows } from "@kinora/persistence"
import { DateTime, type Duration, Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import * as Session from "../../Session.ts"
import type { FoundSession, SessionStart } from "../../SessionStore.ts"

/** Locks the sessions and codes of a subject, or the members of an account, until the transaction ends. */
export const lock = (sql: SqlClient.SqlClient, subject: string) =>
  sql`SELECT true FROM pg_advisory_xact_lock(hashtextextended(${`sessions:${subject}`}, 0))`.pipe(Effect.asVoid)

/** Inserts a session that begins now. */
export const insert = (sql: SqlClient.SqlClient, start: SessionStart) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    sql`
      INSERT INTO sessions_session (
        id, hash, subject, account, grants, device, address, created_at, seen_at, expires_at, idle_until
      )
      VALUES (
        ${Session.SessionId.toUuid(start.id)}, ${start.hash}, ${Session.subjectOf(start.grant)},
        ${Session.accountOf(start.grant)}, ${JSON.stringify(start.grant)}::text::json,
        ${Option.getOrNull(start.device)}, ${start.address}, ${now}, ${now},
        -- Without a time at which it ends at the latest, this is the maximum age.
        least(
          ${DatabaseTime.after(now, start.maxAge)},
          ${Option.getOrNull(Option.map(start.notAfter, DateTime.toDate))}::timestamptz
        ),
        ${DatabaseTime.after(now, start.idle)}
      )
      RETURNING ${columns(sql)}, ${now} AS at
    `).pipe(
      decodeSessions,
      // The statement inserts one row.
      Effect.map(([row]) => toFound(row!).session)
    )

/** Finds the session of a token. */
export const find = (sql: SqlClient.SqlClient, hash: string) =>
  Effect.flatMap(
    DatabaseTime.now,
    (now) => sql`SELECT ${columns(sql)}, ${now} AS at FROM sessions_session WHERE hash = ${hash}`
  ).pipe(decodeSessions, Rows.first(toFound))

/** The condition for the rows within reach. */
export const within = (sql: SqlClient.SqlClient, reach: Session.Reach) =>
  "account" in reach ? sql`account = ${reach.account}` : sql`subject = ${reach.subject}`

/** Lists the sessions within reach, the one that was used last first. */
export const list = (sql: SqlClient.SqlClient, reach: Session.Reach) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    sql`
      SELECT ${columns(sql)}, ${now} AS at
      FROM sessions_session
      WHERE ${within(sql, reach)}
      ORDER BY seen_at DESC, id DESC
    `).pipe(decodeSessions, Effect.map((rows) => rows.map(toFound)))

/** Deletes sessions. */
export const remove = (sql: SqlClient.SqlClient, ids: ReadonlyArray<Session.SessionId>) =>
  ids.length === 0 ? Effect.void : Pipelining.write(
    sql,
    sql`
      WITH locked AS (
        SELECT id
        FROM sessions_session
        WHERE id = ANY(${Rows.array("uuid", ids.map(Session.SessionId.toUuid))})
        ORDER BY id
        FOR UPDATE
      )
      DELETE FROM sessions_session USING locked WHERE sessions_session.id = locked.id
    `
  )

/** Records a use at most once per minute. SKIP LOCKED, so that requests do not wait for each other. */
export const noteUse = (sql: SqlClient.SqlClient, id: Session.SessionId, idle: Duration.Duration) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    sql`
      WITH due AS (
        SELECT id
        FROM sessions_session
        WHERE id = ${Session.SessionId.toUuid(id)} AND seen_at <= ${DatabaseTime.before(now, "1 minute")}
        FOR UPDATE SKIP LOCKED
      )
      UPDATE sessions_session used
      SET seen_at = ${now}, idle_until = ${DatabaseTime.after(now, idle)}
      FROM due
      WHERE used.id = due.id
    `).pipe(Effect.asVoid)

/** Begins or ends the view of an account. */
export const saveView = (
  sql: SqlClient.SqlClient,
  id: Session.SessionId,
  view: Option.Option<{ readonly account: string; readonly maxAge: Duration.Duration }>
) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    sql`
      UPDATE sessions_session
      SET
        view_account = ${Option.getOrNull(Option.map(view, ({ account }) => account))},
        view_until = ${
      Option.match(view, {
        onNone: () => sql`NULL`,
        onSome: ({ maxAge }) => sql`least(${DatabaseTime.after(now, maxAge)}, expires_at)`
      })
    }
      WHERE id = ${Session.SessionId.toUuid(id)}
      RETURNING ${columns(sql)}, ${now} AS at
    `).pipe(decodeSessions, Rows.first((row) => toFound(row).session))

/** Deletes sessions that have ended. */
export const deleteEnded = (sql: SqlClient.SqlClient, limit: number) =>
  Deletion.expired(sql, { table: "sessions_session", key: "id", expiresAt: "least(expires_at, idle_until)", limit })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const columns = (sql: SqlClient.SqlClient) =>
  sql.literal(
    "id, grants::text AS grants, device, address, created_at, seen_at, expires_at, idle_until, view_account, view_until"
  )

const SessionRow = Schema.Struct({
  id: Schema.String,
  grants: Schema.fromJsonString(Session.Grant),
  device: Schema.NullOr(Schema.String),
  address: Schema.String,
  created_at: Rows.timestamptz,
  seen_at: Rows.timestamptz,
  expires_at: Rows.timestamptz,
  idle_until: Rows.timestamptz,
  view_account: Schema.NullOr(Schema.String),
  view_until: Schema.NullOr(Rows.timestamptz),
  at: Rows.timestamptz
})

const decodeSessions = Rows.decodeAll(SessionRow)

const toFound = (row: typeof SessionRow.Type): FoundSession => ({
  session: {
    id: Session.SessionId.fromUuid(row.id),
    grant: row.grants,
    device: Option.fromNullOr(row.device),
    address: row.address,
    createdAt: row.created_at,
    seenAt: row.seen_at,
    expiresAt: row.expires_at,
    idleUntil: row.idle_until,
    view: row.view_account === null || row.view_until === null
      ? Option.none()
      : Option.some({ account: row.view_account, until: row.view_until })
  },
  at: row.at
})
