/** The ledger on a pool of `pg`. */
import * as External from "@kinora/persistence/external"
import { PgPool, TestDatabase } from "@kinora/testkit"
import { Effect, Layer } from "effect"
import * as Ledger from "../src/Ledger.ts"
import * as SqlLedgerStore from "../src/SqlLedgerStore.ts"
import * as ContractParts from "./ContractParts.ts"
import * as LedgerTransactionsContract from "./LedgerTransactionsContract.ts"

const pool = Effect.gen(function*() {
  const connectionString = yield* TestDatabase.postgresUrl
  return yield* Effect.acquireRelease(
    Effect.sync(() => PgPool.make(connectionString)),
    (pool) => Effect.promise(() => pool.end())
  )
})

const backend = Ledger.layerPostgres().pipe(
  Layer.provideMerge(Layer.unwrap(Effect.map(pool, External.layerPg)))
)

ContractParts.suite("pool of pg", Layer.provideMerge(SqlLedgerStore.layer, backend), [
  "lots and charges",
  "units of work"
])
LedgerTransactionsContract.suite("pool of pg", backend, 100)
