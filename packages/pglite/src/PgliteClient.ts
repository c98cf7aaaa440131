/**
 * An embedded Postgres behind Effect's `PgClient`.
 *
 * The client speaks the wire protocol with PGlite in process. The driver, its types,
 * prepared statements, errors and `LISTEN` are those of a real server, and a statement
 * takes a third to half the time of PGlite's own `query`.
 *
 * PGlite has one session, which all connections of the pool share. A connection with
 * an open transaction owns the session until the transaction ends. Statements run on
 * the event loop of this process and cannot be cancelled. Inside a transaction, do not
 * wait for another connection: that deadlocks. `PgClient.notify` takes a connection,
 * so inside a transaction run `SELECT pg_notify(channel, payload)` instead.
 */
import { PgClient } from "@effect/sql-pg"
import { PGlite } from "@electric-sql/pglite"
import { Effect, type Layer, Redacted, type Scope } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import { mkdir } from "node:fs/promises"
import * as NewDatabase from "./internal/newDatabase.ts"
import { PgliteSession } from "./internal/PgliteSession.ts"

/** Options for `layer`. */
export interface PgliteOptions {
  /**
   * Directory of the database, created if it does not exist. If absent, the database is
   * in memory and is lost when the scope closes. PGlite does not lock the directory: two
   * processes that open the same one corrupt it.
   */
  readonly dataDirectory?: string | undefined
  /**
   * Path that `writeTemplate` got. A `dataDirectory` that does not exist becomes a copy of this database. If the template is
   * missing, damaged or of another version of PGlite, the new database is empty.
   */
  readonly template?: string | undefined
  /** Dump (`PGlite.dumpDataDir`) to start from instead of an empty database. */
  readonly loadDataDir?: Blob | undefined
  /** Maximum number of connections of the pool. PGlite runs one statement at a time. Default 8. */
  readonly maxConnections?: number | undefined
  /**
   * Bytes of the buffer cache of Postgres, all of which are resident from the start. The cache of the operating system
   * is behind it. At least 128 KiB. Default 32 MiB; PGlite's own default is 128 MiB.
   */
  readonly bufferBytes?: number | undefined
}

/** Starts an embedded Postgres and provides a client. Closes the database with the scope. */
export const layer = (
  options: PgliteOptions = {}
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, SqlError.SqlError> => layerFrom(open(options), options)

/**
 * Provides a client to the PGlite that `acquire` returns, for instance one with extensions or
 * one that several layers use in turn. Does not close the database: `acquire` does, if it
 * registers a finalizer.
 */
export const layerFrom = <E>(
  acquire: Effect.Effect<PGlite, E, Scope.Scope>,
  { maxConnections = 8 }: Pick<PgliteOptions, "maxConnections"> = {}
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, E | SqlError.SqlError> =>
  PgClient.layerFrom(Effect.gen(function*() {
    const session = new PgliteSession(yield* acquire)
    const client = yield* PgClient.make({
      stream: session.connect,
      username: "postgres",
      database: "postgres",
      password: Redacted.make(""),
      maxConnections,
      multiplex: false
    })
    // Makes Effect's cluster use table leases instead of advisory locks.
    return Object.assign(client, { driver: "pglite" })
  }))

/**
 * Writes a template of databases for `layer`: a new database in memory, after `prepare`. Adds the version of PGlite and
 * `.tar.zst` to the path for the name of the file, and replaces the files of other versions.
 */
export const writeTemplate = <E>(
  template: string,
  prepare: Effect.Effect<unknown, E, PgClient.PgClient | SqlClient.SqlClient>
): Effect.Effect<void, E | SqlError.SqlError> =>
  Effect.gen(function*() {
    const database = yield* open({})
    yield* Effect.provide(prepare, layerFrom(Effect.succeed(database)))
    yield* Effect.tryPromise({
      try: () => NewDatabase.writeTemplate(database, template),
      catch: connectionError("The template could not be written")
    })
  }).pipe(Effect.scoped)

/** Returns the option `startParams` of a PGlite with the buffer cache of `layer`, for `layerFrom`. */
export const startParams = (
  { bufferBytes = 32 * 1024 * 1024 }: Pick<PgliteOptions, "bufferBytes"> = {}
): Array<string> => [
  ...PGlite.defaultStartParams,
  "-c",
  `shared_buffers=${Math.ceil(bufferBytes / blockBytes)}`
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Size of a block, in which Postgres counts buffers. */
const blockBytes = 8192

const open = ({ bufferBytes, dataDirectory, loadDataDir, template }: PgliteOptions) =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        if (dataDirectory !== undefined) {
          if (loadDataDir === undefined) {
            const templates = [...(template === undefined ? [] : [template]), NewDatabase.templateOfEmpty]
            await NewDatabase.create(dataDirectory, templates)
          }
          await mkdir(dataDirectory, { recursive: true, mode: 0o700 })
        }
        const database = await PGlite.create({
          startParams: startParams({ bufferBytes }),
          ...(dataDirectory !== undefined && { dataDir: dataDirectory }),
          ...(loadDataDir !== undefined && { loadDataDir })
        })
        if (dataDirectory !== undefined) NewDatabase.closeToOthers(dataDirectory)
        return database
      },
      catch: connectionError("PGlite failed to start")
    }),
    (database) => Effect.promise(() => database.close())
  )

const connectionError = (message: string) => (cause: unknown) =>
  new SqlError.SqlError({ reason: new SqlError.ConnectionError({ message, operation: "connect", cause }) })
