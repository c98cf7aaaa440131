/** Statements on audit entries: methods of the store. */
import { Rows } from "@kinora/persistence"
import { DateTime, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type AuditEntry, AuditId, type AuditQuery, AuditRole } from "../../AuditEntry.ts"
import type { DeleteCommand } from "../../OperatorStore.ts"
import { deleteStatement } from "./auditDeletion.ts"

/** Appends an entry. */
export const append = (sql: SqlClient.SqlClient, entry: AuditEntry) =>
  sql`
    INSERT INTO operators_audit (id, at, actor, role, address, request_id, action, subject, before, after)
    VALUES (
      ${AuditId.toUuid(entry.id)}, ${DateTime.toDate(entry.at)}, ${entry.actor}, ${entry.role}, ${entry.address},
      ${entry.requestId}, ${entry.action}, ${entry.subject}, ${textOf(entry.before)}::text::json,
      ${textOf(entry.after)}::text::json
    )
  `.pipe(Effect.asVoid)

/** Lists entries, newest first. */
export const entries = (
  sql: SqlClient.SqlClient,
  { action, actor, after, limit, since, subject, until }: AuditQuery
) =>
  sql`
    SELECT id, at, actor, role, address, request_id, action, subject, before::text AS before, after::text AS after
    FROM operators_audit
    WHERE ${
    sql.and([
      sql`true`,
      ...(actor === undefined ? [] : [sql`actor = ${actor}`]),
      ...(action === undefined ? [] : [sql`action = ${action}`]),
      ...(subject === undefined ? [] : [sql`subject = ${subject}`]),
      ...(since === undefined ? [] : [sql`at >= ${DateTime.toDate(since)}`]),
      ...(until === undefined ? [] : [sql`at < ${DateTime.toDate(until)}`]),
      ...(after === undefined ? [] : [sql`id < ${AuditId.toUuid(after)}`])
    ])
  }
    ORDER BY id DESC
    LIMIT ${limit}
  `.pipe(decodeEntries, Effect.map((rows) => rows.map(toEntry)))

/** Deletes entries from before `before`, of all actions or of one. The trigger of the table permits it only with the setting. */
export const deleteEntries = (sql: SqlClient.SqlClient, command: DeleteCommand) =>
  setRetention(sql, "on").pipe(
    Effect.andThen(deleteStatement(sql, command)),
    Effect.map((rows) => rows.length),
    Effect.tap(() => setRetention(sql, "off")),
    sql.withTransaction
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const setRetention = (sql: SqlClient.SqlClient, value: "off" | "on") =>
  sql`SELECT set_config('kinora.audit_retention', ${value}, true)`

const textOf = (value: Schema.Json): string | null => value === null ? null : JSON.stringify(value)

const EntryRow = Schema.Struct({
  id: Schema.String,
  at: Rows.timestamptz,
  actor: Schema.String,
  role: Schema.NullOr(AuditRole),
  address: Schema.String,
  request_id: Schema.String,
  action: Schema.String,
  subject: Schema.NullOr(Schema.String),
  before: Schema.NullOr(Schema.fromJsonString(Schema.Json)),
  after: Schema.NullOr(Schema.fromJsonString(Schema.Json))
})

const decodeEntries = Rows.decodeAll(EntryRow)

const toEntry = ({ id, request_id: requestId, ...row }: typeof EntryRow.Type): AuditEntry => ({
  ...row,
  id: AuditId.fromUuid(id),
  requestId
})
