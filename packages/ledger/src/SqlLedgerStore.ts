/**
 * Books in Postgres.
 *
 * A unit of work costs the same few statements for one command as for a thousand: one
 * that locks the accounts, one that loads, and one that writes. Locking and loading
 * are separate statements because under READ COMMITTED a statement sees the commits
 * that precede its start, which for the locking one is before it has the locks.
 */
import type { Relocatable } from "@kinora/persistence/Migrations"
import { mapSql } from "@kinora/persistence/StorageError"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { audit } from "./internal/sql/audit.ts"
import { findAccounts } from "./internal/sql/findAccounts.ts"
import { findBalances } from "./internal/sql/findBalances.ts"
import { findExpired } from "./internal/sql/findExpired.ts"
import { findMoved } from "./internal/sql/findMoved.ts"
import { findStatement } from "./internal/sql/findStatement.ts"
import { findTransactions } from "./internal/sql/findTransactions.ts"
import { forget, lockAndFindOpen } from "./internal/sql/forget.ts"
import { load } from "./internal/sql/load.ts"
import { save } from "./internal/sql/save.ts"
import { LedgerStore } from "./LedgerStore.ts"
import * as Tables from "./migrations.ts"

/** The tables that the store requires. The store itself runs no DDL. */
export const migrations: Relocatable = Tables.migrations

/** A store over the surrounding database. */
export const layer: Layer.Layer<LedgerStore, never, SqlClient.SqlClient> = Layer.effect(
  LedgerStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return LedgerStore.of({
      load: (query) => load(sql, query).pipe(mapSql("LedgerStore.load")),
      save: (changes) => save(sql, changes).pipe(mapSql("LedgerStore.save")),
      findExpired: (at, limit) => findExpired(sql, at, limit).pipe(mapSql("LedgerStore.findExpired")),
      lockAndFindOpen: (account, limit) =>
        lockAndFindOpen(sql, account, limit).pipe(mapSql("LedgerStore.lockAndFindOpen")),
      forget: (query) => forget(sql, query).pipe(mapSql("LedgerStore.forget")),
      findBalances: (query) => findBalances(sql, query).pipe(mapSql("LedgerStore.findBalances")),
      findTransactions: (query) => findTransactions(sql, query).pipe(mapSql("LedgerStore.findTransactions")),
      findStatement: (query) => findStatement(sql, query).pipe(mapSql("LedgerStore.findStatement")),
      findAccounts: (after, limit) => findAccounts(sql, after, limit).pipe(mapSql("LedgerStore.findAccounts")),
      audit: (query) => audit(sql, query).pipe(mapSql("LedgerStore.audit")),
      findMoved: findMoved(sql).pipe(mapSql("LedgerStore.findMoved"))
    })
  })
)
