/** The ledger on a pool of `pg`. */
import * as External from "@kinora/persistence/external"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Layer } from "effect"
import { Pool } from "pg"
import * as Ledger from "../src/Ledger.ts"
import * as LedgerContract from "./LedgerContract.ts"
import * as LedgerTransactionsContract from "./LedgerTransactionsContract.ts"
import * as LedgerUnitsContract from "./LedgerUnitsContract.ts"

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

LedgerContract.suite("pool of pg", backend)
LedgerUnitsContract.suite("pool of pg", backend)
LedgerTransactionsContract.suite("pool of pg", backend, 100)
