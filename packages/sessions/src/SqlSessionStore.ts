/** Sessions, sign-in codes and members in Postgres. Of a token and of a code, the tables hold the hash only. */
import type { Migrations } from "@kinora/persistence/Migrations"
import * as SqlStore from "@kinora/persistence/SqlStore"
import { Effect, type Layer } from "effect"
import type { SqlClient } from "effect/sql"
import * as Codes from "./internal/sql/codes.ts"
import * as Members from "./internal/sql/members.ts"
import { sessionsTables, sessionViews } from "./internal/sql/migrations.ts"
import * as Rows from "./internal/sql/sessions.ts"
import { SessionStore } from "./SessionStore.ts"

/** The tables that the store requires. The store itself runs no DDL. */
export const migrations: Migrations = {
  namespace: "sessions",
  migrations: { "0001_sessions": sessionsTables, "0002_views": sessionViews }
}

/** A store over the surrounding database. */
export const layer: Layer.Layer<SessionStore, never, SqlClient.SqlClient> = SqlStore.layer(SessionStore, {
  lock: Rows.lock,
  insertSession: Rows.insert,
  findSession: Rows.find,
  listSessions: Rows.list,
  deleteSessions: Rows.remove,
  noteUse: Rows.noteUse,
  saveView: Rows.saveView,
  insertCode: Codes.insert,
  countCodes: Codes.count,
  takeCode: Codes.take,
  deleteCodes: Codes.remove,
  deleteEnded,
  insertMember: Members.insert,
  listMembers: Members.list,
  findMembers: Members.find,
  findMember: Members.findOne,
  saveIdentity: Members.saveIdentity,
  saveRole: Members.saveRole,
  deleteMembers: Members.remove
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Deletes sessions and codes that have ended, up to `limit` of each. Returns the higher number. */
function deleteEnded(sql: SqlClient.SqlClient, limit: number) {
  return Effect.zipWith(Rows.deleteEnded(sql, limit), Codes.deleteExpired(sql, limit), Math.max)
}
