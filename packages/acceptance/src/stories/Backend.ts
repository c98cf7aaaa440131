/** The database that the hosts of stories share: the memory of this process, or a Postgres. */
import { PgClient, PgPool } from "@effect/sql-pg"
import type { VirtualTime } from "@kinora/host-test/VirtualTime"
import { Stores } from "@kinora/hosting"
import { Migrations, Pipelining } from "@kinora/persistence"
import type * as Faults from "@kinora/testkit/Faults"
import * as FaultySqlClient from "@kinora/testkit/FaultySqlClient"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as FaultyMemory from "./FaultyMemory.ts"

/** Every store, and the unit of work. */
export type AnyStores = Layer.Success<ReturnType<typeof FaultyMemory.layer>>

/** The database of a story. */
export interface Database {
  /** The clock that decides to which day a charge counts. A memory has none of its own. */
  readonly clock: "host" | "database"
  /** The stores of a host with these faults. */
  readonly stores: (faults: Faults.Faults) => Layer.Layer<AnyStores>
  /** The stores without faults, for assertions. */
  readonly all: Layer.Layer<AnyStores>
}

/** A kind of database. */
export interface Backend {
  readonly name: "memory" | "postgres"
  /** Number of stories that are tried to shorten a failing one, unless an option sets it. Takes less than a minute on an idle machine. */
  readonly shrinksMax: number
  /** Returns an empty database for a story. */
  readonly open: (still: VirtualTime["Service"]["still"]) => Effect.Effect<Database, never, Scope.Scope>
}

/** Each story has a memory of its own. */
export const memory: Backend = {
  name: "memory",
  shrinksMax: 150,
  open: () =>
    Effect.map(Layer.build(Layer.fresh(Stores.layerMemory)), (context) => {
      const all = Layer.succeedContext(context)
      return { clock: "host", all, stores: (faults) => FaultyMemory.layer(faults).pipe(Layer.provide(all)) }
    })
}

/** `shrinksMax` on Postgres, where a story takes half a second. */
export const postgresShrinksMax = 40

/**
 * Makes a backend over the Postgres of a URL, which it migrates first. Stories run one after the other, and empty its
 * tables.
 */
export const makePostgres = (url: string): Effect.Effect<Backend, SqlError.SqlError, Scope.Scope> =>
  Effect.gen(function*() {
    const options = {
      url: Redacted.make(url),
      maxConnections: 16,
      // The value of hosts. Virtual time stands still while a statement waits for a lock, and the transaction that holds it
      // may wait for virtual time.
      startupParameters: { lock_timeout: "300ms" }
    }
    const client = yield* Layer.build(PgClient.layer(options))
    // Hosts pipeline their units.
    const pool = yield* PgPool.make({ ...options, multiplex: true, multiplexConcurrency: 1 })
    const pipelining = { pool, over: Pipelining.over<SqlClient.SqlClient> }
    yield* Effect.orDie(Effect.provideContext(Migrations.run(Stores.migrations), client))
    const tables = yield* tablesOf(Context.get(client, SqlClient.SqlClient))
    const sql = Context.get(client, SqlClient.SqlClient)
    const empty = sql.withTransaction(Effect.all([
      // Disables the triggers that protect the books, and foreign keys, so the tables can be emptied in any order.
      sql`SET LOCAL session_replication_role = replica`,
      // Transactions of the previous story may still run.
      sql`SET LOCAL lock_timeout = '30s'`,
      sql`LOCK TABLE ${sql.literal(tables.join(", "))} IN ACCESS EXCLUSIVE MODE`,
      // Tables have few rows, whose deletion takes less time than the new files of `TRUNCATE`.
      sql`DO ${sql.literal(`$$ BEGIN ${tables.map((table) => `DELETE FROM ${table};`).join(" ")} END $$`)}`
    ]))
    const storesWith = (faults: Faults.Faults | undefined, still: VirtualTime["Service"]["still"]) => {
      const faulty = FaultySqlClient.layer({ faults, still, pipelining }).pipe(
        Layer.provide(Layer.succeedContext(client))
      )
      return Layer.fresh(Stores.layerSql.pipe(Layer.provide(faulty)))
    }
    return {
      name: "postgres",
      shrinksMax: postgresShrinksMax,
      open: (still) =>
        still(Effect.orDie(empty)).pipe(
          Effect.as({
            clock: "database" as const,
            all: storesWith(undefined, still),
            stores: (faults: Faults.Faults) => storesWith(faults, still)
          })
        )
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Tables with rows of the product. Those of the migrations stay. */
const tablesOf = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly name: string }>`
      SELECT quote_ident(tablename) AS name
      FROM pg_tables
      WHERE schemaname = 'public' AND tablename NOT LIKE '%migration%'
      ORDER BY tablename
    `,
    (rows) => rows.map(({ name }) => name)
  )
