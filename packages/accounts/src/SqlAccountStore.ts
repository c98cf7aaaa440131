/** Accounts in Postgres. Of an API key, the tables hold the hash and the first 12 characters. */
import type { Migrations } from "@kinora/persistence/Migrations"
import { mapSql } from "@kinora/persistence/StorageError"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AccountStore } from "./AccountStore.ts"
import * as Accounts from "./internal/sql/accounts.ts"
import * as KeyLines from "./internal/sql/keyLines.ts"
import * as KeyOwners from "./internal/sql/keyOwners.ts"
import * as Keys from "./internal/sql/keys.ts"
import {
  accountsTables,
  deletion,
  indexes,
  keyAuthors,
  keyBudgets,
  keyTerms,
  subscriptions,
  walletTables
} from "./internal/sql/migrations.ts"
import * as Movements from "./internal/sql/movements.ts"
import * as Plans from "./internal/sql/plans.ts"

/** The tables that the store requires. The store itself runs no DDL. */
export const migrations: Migrations = {
  namespace: "accounts",
  migrations: {
    "0001_accounts": accountsTables,
    "0002_wallet": walletTables,
    // Created an index that is among `indexes` now. The number stays, since databases have recorded it.
    "0003_revoked_keys": Effect.void,
    "0004_key_terms": keyTerms,
    "0005_subscriptions": subscriptions,
    "0006_deletion": deletion,
    "0007_key_budgets": keyBudgets,
    "0008_key_authors": keyAuthors
  },
  indexes
}

/** A store over the surrounding database. */
export const layer: Layer.Layer<AccountStore, never, SqlClient.SqlClient> = Layer.effect(
  AccountStore,
  Effect.map(SqlClient.SqlClient, (sql) =>
    AccountStore.of({
      insertAccount: (account) => Accounts.insertAccount(sql, account).pipe(mapSql("AccountStore.insertAccount")),
      findAccount: (id) => Accounts.findAccount(sql, id).pipe(mapSql("AccountStore.findAccount")),
      findAccountByEmail: (emailKey) =>
        Accounts.findAccountByEmail(sql, emailKey).pipe(mapSql("AccountStore.findAccountByEmail")),
      listAccounts: (query) => Accounts.listAccounts(sql, query).pipe(mapSql("AccountStore.listAccounts")),
      // Locks and reads in two statements: the second one sees the commits that the lock waited for.
      lockAccount: (id) =>
        Accounts.lockAccount(sql, id).pipe(
          Effect.andThen(Accounts.findAccount(sql, id)),
          mapSql("AccountStore.lockAccount")
        ),
      saveEmail: (id, email) => Accounts.updateEmail(sql, id, email).pipe(mapSql("AccountStore.saveEmail")),
      saveStatus: (id, status, deletedAt) =>
        Accounts.updateStatus(sql, id, status, deletedAt).pipe(mapSql("AccountStore.saveStatus")),
      erase: (id) => Accounts.erase(sql, id).pipe(mapSql("AccountStore.erase")),
      findDeleted: (before, limit) => Accounts.findDeleted(sql, before, limit).pipe(mapSql("AccountStore.findDeleted")),

      savePlan: (id, group, plan) => Plans.savePlan(sql, id, group, plan).pipe(mapSql("AccountStore.savePlan")),
      findDuePlans: (query) => Plans.findDuePlans(sql, query).pipe(mapSql("AccountStore.findDuePlans")),

      findMovement: (account, kind, reference) =>
        Movements.findMovement(sql, account, kind, reference).pipe(mapSql("AccountStore.findMovement")),
      listMovements: (query) => Movements.listMovements(sql, query).pipe(mapSql("AccountStore.listMovements")),
      saveMovement: (movement) => Movements.saveMovement(sql, movement).pipe(mapSql("AccountStore.saveMovement")),

      countKeys: (account, at) => Keys.countKeys(sql, account, at).pipe(mapSql("AccountStore.countKeys")),
      insertKey: (key, hash) => Keys.insertKey(sql, key, hash).pipe(mapSql("AccountStore.insertKey")),
      listKeys: (account, limit) => Keys.listKeys(sql, account, limit).pipe(mapSql("AccountStore.listKeys")),
      findKey: (account, key) => Keys.findKey(sql, account, key).pipe(mapSql("AccountStore.findKey")),
      saveExpiry: (key, expiresAt) => Keys.updateExpiry(sql, key, expiresAt).pipe(mapSql("AccountStore.saveExpiry")),
      revokeKey: (account, key, at) => Keys.revokeKey(sql, account, key, at).pipe(mapSql("AccountStore.revokeKey")),
      revokeKeys: (account, at) => Keys.revokeKeys(sql, account, at).pipe(mapSql("AccountStore.revokeKeys")),
      deleteRevokedKeys: (before, limit) =>
        Keys.deleteRevokedKeys(sql, before, limit).pipe(
          Effect.map((rows) => rows.length),
          mapSql("AccountStore.deleteRevokedKeys")
        ),

      saveBudget: (account, line, budget) =>
        KeyLines.saveBudget(sql, account, line, budget).pipe(mapSql("AccountStore.saveBudget")),
      lockLines: (lines) => KeyLines.lockLines(sql, lines).pipe(mapSql("AccountStore.lockLines")),
      findLines: (lines, since) => KeyLines.findLines(sql, lines, since).pipe(mapSql("AccountStore.findLines")),
      saveUse: (uses) => KeyLines.saveUse(sql, uses).pipe(mapSql("AccountStore.saveUse")),
      deleteSpending: (before, limit) =>
        KeyLines.deleteSpending(sql, before, limit).pipe(
          Effect.map((rows) => rows.length),
          mapSql("AccountStore.deleteSpending")
        ),

      findOwners: (hashes) => KeyOwners.findOwners(sql, hashes).pipe(mapSql("AccountStore.findOwners")),
      noteUses: (uses) => KeyOwners.recordUses(sql, uses).pipe(mapSql("AccountStore.noteUses"))
    }))
)
