/** Sessions, sign-in codes and members in Postgres. Of a token and of a code, the tables hold the hash only. */
import type { Migrations } from "@kinora/persistence/Migrations"
import { mapSql } from "@kinora/persistence/StorageError"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
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
export const layer: Layer.Layer<SessionStore, never, SqlClient.SqlClient> = Layer.effect(
  SessionStore,
  Effect.map(SqlClient.SqlClient, (sql) =>
    SessionStore.of({
      lock: (subject) => Rows.lock(sql, subject).pipe(mapSql("SessionStore.lock")),
      insertSession: (start) => Rows.insert(sql, start).pipe(mapSql("SessionStore.insertSession")),
      findSession: (hash) => Rows.find(sql, hash).pipe(mapSql("SessionStore.findSession")),
      listSessions: (reach) => Rows.list(sql, reach).pipe(mapSql("SessionStore.listSessions")),
      deleteSessions: (ids) => Rows.remove(sql, ids).pipe(mapSql("SessionStore.deleteSessions")),
      noteUse: (id, idle) => Rows.noteUse(sql, id, idle).pipe(mapSql("SessionStore.noteUse")),
      saveView: (id, view) => Rows.saveView(sql, id, view).pipe(mapSql("SessionStore.saveView")),
      insertCode: (grant, hash, maxAge) =>
        Codes.insert(sql, grant, hash, maxAge).pipe(mapSql("SessionStore.insertCode")),
      countCodes: (subject) => Codes.count(sql, subject).pipe(mapSql("SessionStore.countCodes")),
      takeCode: (hash) => Codes.take(sql, hash).pipe(mapSql("SessionStore.takeCode")),
      deleteCodes: (reach) => Codes.remove(sql, reach).pipe(mapSql("SessionStore.deleteCodes")),
      deleteEnded: (limit) =>
        Effect.zipWith(Rows.deleteEnded(sql, limit), Codes.deleteExpired(sql, limit), Math.max).pipe(
          mapSql("SessionStore.deleteEnded")
        ),
      insertMember: (member) => Members.insert(sql, member).pipe(mapSql("SessionStore.insertMember")),
      listMembers: (account) => Members.list(sql, account).pipe(mapSql("SessionStore.listMembers")),
      findMembers: (identity) => Members.find(sql, identity).pipe(mapSql("SessionStore.findMembers")),
      findMember: (id) => Members.findOne(sql, id).pipe(mapSql("SessionStore.findMember")),
      saveIdentity: (id, identity) => Members.saveIdentity(sql, id, identity).pipe(mapSql("SessionStore.saveIdentity")),
      saveRole: (id, role) => Members.saveRole(sql, id, role).pipe(mapSql("SessionStore.saveRole")),
      deleteMembers: (ids) => Members.remove(sql, ids).pipe(mapSql("SessionStore.deleteMembers"))
    }))
)
