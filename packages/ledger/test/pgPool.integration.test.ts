/** The ledger on a pool of `pg`. */
import * as External from "@kinora/persistence/external"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Layer } from "effect"
import { Pool } from "pg"
import * as Ledger from "../src/Ledger.ts"
import * as SqlLedgerStore from "../src/SqlLedgerStore.ts"
import * as ContractParts from "./ContractParts.ts"
import * as LedgerTransactionsContract from "./LedgerTransactionsContract.ts"

const pool = Effect.gen(function*() {
  const connectionString = yield* TestDatabase.postgresUrl
  return yield* Effect.acquireRelease(
    Effect.sync(() => {
      const pool = new Pool({ connectionString, max: 16 })
      // The database is dropped before the sockets of the pool are closed.
      pool.on("error", () => {})
      return pool
    }),
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
