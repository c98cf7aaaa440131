import { SqlAccountStore } from "@kinora/accounts"
import { SqlLedgerStore } from "@kinora/ledger"
import { Migrations, UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Layer } from "effect"
import { suite } from "./PlanRenewalContract.ts"

for (const [name, database] of TestDatabase.all) {
  suite(
    name,
    Layer.mergeAll(SqlAccountStore.layer, SqlLedgerStore.layer).pipe(
      Layer.provideMerge(UnitOfWork.layerSql),
      Layer.provideMerge(Migrations.layer(SqlAccountStore.migrations, SqlLedgerStore.migrations)),
      Layer.provideMerge(database)
    )
  )
}
