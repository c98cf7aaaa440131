/** The tables of the ledger, for programs that run migrations themselves. */
import type { Relocatable } from "@kinora/persistence/Migrations"
import { indexes } from "./internal/sql/forgettingMigration.ts"
import { migrations as byName } from "./internal/sql/migrations.ts"

/** The migrations. `Migrations.run` of `@kinora/persistence` and the command `kinora-migrate` run them. */
export const migrations: Relocatable = {
  namespace: "ledger",
  migrations: byName,
  indexes,
  objects: {
    tables: [
      "ledger_account",
      "ledger_transaction",
      "ledger_entry",
      "ledger_lot",
      "ledger_quota",
      "ledger_hold",
      "ledger_forgetting"
    ],
    functions: [
      "ledger_refuse_change",
      "ledger_limit_refunds",
      "ledger_check_hold",
      "ledger_keep_transaction",
      "ledger_keep_entry"
    ]
  }
}
