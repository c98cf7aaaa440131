/**
 * An embedded Postgres behind Effect's `PgClient`.
 *
 * PGlite speaks the wire protocol in process, so the driver, its types, prepared
 * statements, errors and `LISTEN` are those of a real server, and a statement is
 * two to three times faster than through PGlite's own `query`.
 *
 * PGlite has one session. Every connection of the pool shares it; one that is
 * inside a transaction owns it until the transaction ends. Statements run on this
 * process's event loop and cannot be cancelled. So inside a transaction never wait
 * for another connection: it waits for the transaction. `PgClient.notify` takes
 * one; inside a transaction say `SELECT pg_notify(channel, payload)`.
 */
import { PgClient } from "@effect/sql-pg"
import { PGlite } from "@electric-sql/pglite"
import { Effect, type Layer, Redacted } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import { mkdir } from "node:fs/promises"
import { PgliteSession } from "./internal/PgliteSession.ts"

/** Where an embedded Postgres keeps its data. */
export interface PgliteOptions {
  /**
   * A directory, made when it does not exist. Absent: memory, gone with the scope.
   * PGlite takes no lock on it: two processes that open one directory destroy it.
   */
  readonly dataDirectory?: string | undefined
  /** A dump (`PGlite.dumpDataDir`) to start from instead of initialising a new database. */
  readonly loadDataDir?: Blob | undefined
  /** Connections of the pool; statements still run one after the other. Default 8. */
  readonly maxConnections?: number | undefined
}

/** A client over an embedded Postgres that stops with the scope. */
export const layer = (
  options: PgliteOptions = {}
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, SqlError.SqlError> =>
  PgClient.layerFrom(Effect.gen(function*() {
    const { dataDirectory, loadDataDir, maxConnections = 8 } = options
    const database = yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: async () => {
          if (dataDirectory !== undefined) await mkdir(dataDirectory, { recursive: true })
          return PGlite.create({
            ...(dataDirectory !== undefined && { dataDir: dataDirectory }),
            ...(loadDataDir !== undefined && { loadDataDir })
          })
        },
        catch: (cause) =>
          new SqlError.SqlError({
            reason: new SqlError.ConnectionError({ message: "PGlite did not start", operation: "connect", cause })
          })
      }),
      (database) => Effect.promise(() => database.close())
    )
    const session = new PgliteSession(database)
    const client = yield* PgClient.make({
      stream: session.connect,
      username: "postgres",
      database: "postgres",
      password: Redacted.make(""),
      maxConnections,
      multiplex: false
    })
    // Effect's cluster takes table leases instead of advisory locks on this driver.
    return Object.assign(client, { driver: "pglite" })
  }))
