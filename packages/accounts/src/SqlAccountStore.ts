/** Accounts in Postgres. Of an API key, the tables hold the hash and the first 12 characters. */
import * as SqlApiKeyStore from "@kinora/api-keys/SqlApiKeyStore"
import type { Migrations } from "@kinora/persistence/Migrations"
import * as SqlStore from "@kinora/persistence/SqlStore"
import { Effect, type Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { AccountStore } from "./AccountStore.ts"
import * as Accounts from "./internal/sql/accounts.ts"
import * as KeyLines from "./internal/sql/keyLines.ts"
import { findOwners } from "./internal/sql/keyOwners.ts"
import { keyTable } from "./internal/sql/keyTable.ts"
import {
  accountsTables,
  deletion,
  indexes,
  keyAuthors,
  keyBudgets,
  keyTerms,
  operatorBudgets,
  roomForUpdates,
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
    "0008_key_authors": keyAuthors,
    "0009_operator_budgets": operatorBudgets,
    "0010_room_for_updates": roomForUpdates
  },
  indexes
}

/** A store over the surrounding database. */
export const layer: Layer.Layer<AccountStore, never, SqlClient.SqlClient> = SqlStore.layer(AccountStore, {
  insertAccount: Accounts.insertAccount,
  findAccount: Accounts.findAccount,
  findAccountByEmail: Accounts.findAccountByEmail,
  listAccounts: Accounts.listAccounts,
  lockAccount: Accounts.lockAccount,
  saveEmail: Accounts.updateEmail,
  saveStatus: Accounts.updateStatus,
  erase: Accounts.erase,
  findDeleted: Accounts.findDeleted,

  savePlan: Plans.savePlan,
  findDuePlans: Plans.findDuePlans,

  findMovement: Movements.findMovement,
  listMovements: Movements.listMovements,
  saveMovement: Movements.saveMovement,

  ...SqlApiKeyStore.statements(keyTable),
  // `Accounts` has locked the account.
  lockOwner: () => Effect.void,
  deleteEnded: KeyLines.deleteEnded,

  findBudgets: KeyLines.findBudgets,
  saveBudget: KeyLines.saveBudget,
  lockLines: KeyLines.lockLines,
  findLines: KeyLines.findLines,
  saveUse: KeyLines.saveUse,
  deleteSpending: KeyLines.deleteSpending,

  findOwners
})
