/** Operators and audit entries in Postgres. Of a token, the tables hold the hash and the first 12 characters. */
import type { Migrations } from "@kinora/persistence/Migrations"
import { mapSql } from "@kinora/persistence/StorageError"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Audit from "./internal/sql/audit.ts"
import { auditRoles, operatorsTables } from "./internal/sql/migrations.ts"
import * as Rows from "./internal/sql/operators.ts"
import { OperatorStore } from "./OperatorStore.ts"

/** The tables that the store requires. The store itself runs no DDL. */
export const migrations: Migrations = {
  namespace: "operators",
  migrations: { "0001_operators": operatorsTables, "0002_audit_roles": auditRoles }
}

/** A store over the surrounding database. */
export const layer: Layer.Layer<OperatorStore, never, SqlClient.SqlClient> = Layer.effect(
  OperatorStore,
  Effect.map(SqlClient.SqlClient, (sql) =>
    OperatorStore.of({
      lockAll: Rows.lockAll(sql).pipe(mapSql("OperatorStore.lockAll")),
      count: (now) => Rows.count(sql, now).pipe(mapSql("OperatorStore.count")),
      insert: (operator, hash) => Rows.insert(sql, operator, hash).pipe(mapSql("OperatorStore.insert")),
      find: (id) => Rows.find(sql, id).pipe(mapSql("OperatorStore.find")),
      // Locks and reads in two statements: the second one sees the commits that the lock waited for.
      lock: (id) => Rows.lock(sql, id).pipe(Effect.andThen(Rows.find(sql, id)), mapSql("OperatorStore.lock")),
      list: (limit) => Rows.list(sql, limit).pipe(mapSql("OperatorStore.list")),
      replaceToken: (id, next) => Rows.replaceToken(sql, id, next).pipe(mapSql("OperatorStore.replaceToken")),
      revoke: (id, at) => Rows.revoke(sql, id, at).pipe(mapSql("OperatorStore.revoke")),
      findOwner: (hash) => Rows.findOwner(sql, hash).pipe(mapSql("OperatorStore.findOwner")),
      noteUse: (id, at) => Rows.noteUse(sql, id, at).pipe(mapSql("OperatorStore.noteUse")),
      append: (entry) => Audit.append(sql, entry).pipe(mapSql("OperatorStore.append")),
      entries: (query) => Audit.entries(sql, query).pipe(mapSql("OperatorStore.entries")),
      deleteEntries: (before, limit) =>
        Audit.deleteEntries(sql, before, limit).pipe(mapSql("OperatorStore.deleteEntries"))
    }))
)
