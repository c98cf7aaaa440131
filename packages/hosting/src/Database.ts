/** The database of a host: Postgres, or the embedded database in the data directory. */
import { PgClient, PgPool } from "@effect/sql-pg"
import { Migrations, Pipelining } from "@kinora/persistence"
import type { StorageError } from "@kinora/persistence/StorageError"
import { PgliteClient } from "@kinora/pglite"
import { Context, Data, Duration, Effect, Exit, Fiber, Layer, type Redacted } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as DataDirectory from "./DataDirectory.ts"
import * as MigrationClient from "./internal/database/migrationClient.ts"
import * as ResponsiveSockets from "./internal/database/responsiveSockets.ts"
import * as Templates from "./internal/database/templates.ts"

/** Options for `Database.layer`. */
export interface DatabaseOptions {
  /** URL of a Postgres. If `undefined`, the embedded database is used. */
  readonly url: Redacted.Redacted | undefined
  /** Directory of the embedded database. The caller holds its lock (`DataDirectory.acquire`). */
  readonly dataDirectory: string
  /**
   * Migrations that `layerMigrations` will run. If this package has a template with their tables, a new embedded database is
   * a copy of it. Otherwise it is empty.
   */
  readonly migrations?: ReadonlyArray<Migrations.Migrations> | undefined
  /**
   * Maximum number of connections to Postgres, half of them for units of work. At least 3, since one of the others may listen
   * only. Default 16.
   */
  readonly maxConnections?: number | undefined
  /**
   * Time after which Postgres ends a statement. If a response is still outstanding after a
   * quarter more, the connection ends. Default 4 seconds.
   */
  readonly statementMax?: Duration.Input | undefined
  /**
   * Time after which Postgres 17 and newer end a transaction, if a statement's time has also
   * passed. Default 10 seconds, like the deadline of a unit of work.
   */
  readonly unitMax?: Duration.Input | undefined
  /**
   * Time after which a wait for a lock ends. The transaction is rolled back, and the unit of
   * work or the folded set runs again. Default 300 milliseconds.
   */
  readonly lockMax?: Duration.Input | undefined
  /**
   * Time after which Postgres ends the session of a transaction whose client does nothing, so
   * that a suspended process does not keep its locks. Longer than the event loop is ever
   * busy without a pause. Default 1 second.
   */
  readonly idleMax?: Duration.Input | undefined
}

/** The database does not respond. */
export class DatabaseUnavailable
  extends Data.TaggedError("DatabaseUnavailable")<{ readonly cause: SqlError.SqlError }>
{
  override get message(): string {
    return `The database does not respond (${this.cause.reason._tag}). Check KINORA_DATABASE_URL`
  }
}

/** The database does not store texts in UTF-8, so that characters are counted as bytes, and some cannot be stored. */
export class DatabaseEncodingUnsupported extends Data.TaggedError("DatabaseEncodingUnsupported")<{
  /** The encoding of the database, such as `SQL_ASCII`. */
  readonly encoding: string
}> {
  override get message(): string {
    return `The encoding of the database is ${this.encoding}, not UTF8. Use one that was created with: CREATE DATABASE kinora ENCODING 'UTF8' TEMPLATE template0`
  }
}

/** The database became unavailable during the migrations. */
export class DatabaseLost extends Data.TaggedError("DatabaseLost")<{ readonly cause: StorageError }> {
  override get message(): string {
    const { cause, reason } = this.cause
    const found = SqlError.isSqlError(cause) ? cause.reason._tag : reason
    return `The database stopped responding during a migration (${found}). A migration is applied as a whole or not at all; start again`
  }
}

/**
 * The database client. Statements of many fibers share one half of the connections (`multiplex`); a unit
 * of work has one of the other half for itself, and its statements share network writes (`Pipelining`).
 *
 * Postgres ends a statement after `statementMax`. If Postgres does not respond at all, the
 * connection is closed, and every statement on it fails as `unavailable`, also those of
 * other fibers. The pool then opens a new one.
 */
export const layer = (
  options: DatabaseOptions
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, DatabaseEncodingUnsupported | DatabaseUnavailable> =>
  options.url === undefined
    ? connected(layerEmbedded(options))
    : layerPostgres(options.url, options)

/**
 * Runs the migrations. On Postgres they use a separate connection without a statement
 * timeout, since rewriting a large table takes longer than a request may. If a response is
 * outstanding for `statementMax` and a quarter more, and Postgres does not work on the
 * statement or does not respond to other connections either, they fail with `DatabaseLost`.
 */
export const layerMigrations = (
  { statementMax, url }: Pick<DatabaseOptions, "statementMax" | "url">,
  packages: ReadonlyArray<Migrations.Migrations>
): Layer.Layer<never, DatabaseLost | DatabaseUnavailable | Migrations.SchemaMismatch, SqlClient.SqlClient> => {
  const migrate = Effect.catchTag(
    Migrations.run(packages),
    "StorageError",
    (cause) => Effect.fail(new DatabaseLost({ cause }))
  )
  if (url === undefined) return Layer.effectDiscard(migrate)
  const client = MigrationClient.layer({ url, silenceMax: silenceOf(statementMax), keepAlive })
  return Layer.effectDiscard(Effect.provide(migrate, connected(client)))
}

/** The table and the function of `isReadyWithin`. */
export const migrations: Migrations.Migrations = {
  namespace: "host_readiness",
  migrations: {
    "0001_readiness": SqlClient.SqlClient.use((sql) =>
      sql`CREATE TABLE host_readiness (id int2 PRIMARY KEY, checked_at timestamptz NOT NULL)`
    ),
    // 1 MiB does not fit into `work_mem`, so the server writes it to a temporary file, next to the tables by default.
    "0002_room": SqlClient.SqlClient.use((sql) =>
      sql`
        CREATE FUNCTION host_readiness_room() RETURNS bigint LANGUAGE sql SET work_mem = '64kB' AS $$
          SELECT count(*) FROM unnest(array_fill(repeat('x', 8192), ARRAY[128]))
        $$
      `
    )
  }
}

/**
 * Returns `true` if, within `limit`, the database responds to a statement, and a transaction writes a row and has room for
 * 1 MiB. Both, since transactions have connections of their own (`layer`), which can all hang or be in use alone. A database
 * that is read-only or full does not write: an update of a row fits into its page although nothing else can be written.
 */
export const isReadyWithin = Effect.fnUntraced(function*(limit: Duration.Input) {
  const sql = yield* SqlClient.SqlClient
  const write = sql`
    INSERT INTO host_readiness (id, checked_at) SELECT 1, now() WHERE host_readiness_room() > 0
    ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at
  `
  // With the commit: all processes write the row, and one that is suspended in between would keep it locked.
  const unit = sql.withTransaction(Pipelining.atCommit(Pipelining.write(sql, write)))
  const check = Effect.all([unit, sql`SELECT 1`], { concurrency: 2 })
  return yield* Effect.acquireUseRelease(
    // The driver reports a connection that is lost in a transaction as a defect.
    Effect.forkDetach(Effect.map(Effect.exit(check), Exit.isSuccess), { startImmediately: true }),
    (checking) => Effect.timeoutOrElse(Fiber.join(checking), { duration: limit, orElse: () => Effect.succeed(false) }),
    // Without a wait for its end: a transaction whose connection hangs cannot roll back until the connection is closed.
    (checking) => Effect.sync(() => checking.interruptUnsafe())
  )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const layerEmbedded = ({ dataDirectory: parent, migrations }: DatabaseOptions) =>
  Layer.unwrap(Effect.gen(function*() {
    const dataDirectory = join(parent, DataDirectory.entries.database)
    const template = migrations === undefined || existsSync(dataDirectory)
      ? undefined
      // Migrations that cannot be described have no template.
      : yield* Effect.catchDefect(Templates.pathOf(migrations), () => Effect.undefined)
    return PgliteClient.layer({ dataDirectory, template })
  }))

const layerPostgres = (
  url: Redacted.Redacted,
  {
    idleMax = "1 second",
    lockMax = "300 millis",
    maxConnections = 16,
    statementMax = statementDefault,
    unitMax = "10 seconds"
  }: Omit<DatabaseOptions, "url">
) =>
  Layer.unwrap(Effect.gen(function*() {
    const statement = Duration.fromInputUnsafe(statementMax)
    const unit = Duration.fromInputUnsafe(unitMax)
    const stream = yield* ResponsiveSockets.make({ url, silenceMax: silenceOf(statement), keepAlive })
    const { encoding, version } = yield* Effect.provide(
      describe,
      connected(PgClient.layer({ ...connection(url), stream, maxConnections: 1 }))
    )
    if (encoding !== "UTF8") return yield* new DatabaseEncodingUnsupported({ encoding })
    const options: PgClient.PgPoolConfig = {
      ...connection(url),
      connectTimeout: statement,
      stream,
      multiplex: true,
      startupParameters: {
        statement_timeout: millisOf(statement),
        lock_timeout: millisOf(Duration.fromInputUnsafe(lockMax)),
        idle_in_transaction_session_timeout: millisOf(Duration.fromInputUnsafe(idleMax)),
        // Older servers refuse connections that set it.
        ...(version >= 170_000 && { transaction_timeout: millisOf(Duration.sum(unit, statement)) })
      }
    }
    const units = Math.floor(maxConnections / 2)
    const client = PgClient.layerFrom(Effect.gen(function*() {
      const client = yield* PgClient.make({
        ...options,
        maxConnections: maxConnections - units,
        multiplexConcurrency: 8
      })
      return Pipelining.over(client, yield* PgPool.make({ ...options, maxConnections: units, multiplexConcurrency: 1 }))
    }))
    return connected(client)
  }))

/** Returns the version of the server and the encoding of the database. */
const describe = Effect.map(
  SqlClient.SqlClient.use((sql) =>
    sql<{ readonly encoding: string; readonly version: number }>`
      SELECT current_setting('server_encoding') AS encoding, current_setting('server_version_num')::int4 AS version
    `
  ),
  ([row]) => row ?? { encoding: "unknown", version: 0 }
).pipe(Effect.mapError((cause) => new DatabaseUnavailable({ cause })))

const statementDefault = Duration.seconds(4)

/** Longer than Postgres works on a statement. */
const silenceOf = (statementMax: Duration.Input = statementDefault) =>
  Duration.times(Duration.fromInputUnsafe(statementMax), 1.25)

const millisOf = (duration: Duration.Duration) => `${Math.ceil(Duration.toMillis(duration))}ms`

/** Without it, a connection that waits for a notification or a long statement would detect a lost peer after hours. */
const keepAlive = Duration.seconds(30)

const connection = (url: Redacted.Redacted) => ({
  url,
  applicationName: "kinora",
  connectTimeout: Duration.seconds(5),
  keepAlive
} as const)

/** Connects immediately. A pool would connect on first use. */
const connected = <Services>(database: Layer.Layer<Services | SqlClient.SqlClient, SqlError.SqlError>) =>
  database.pipe(
    Layer.tap((context) => Context.get(context, SqlClient.SqlClient)`SELECT 1`),
    Layer.catchTag("SqlError", (cause) => Layer.effectContext(Effect.fail(new DatabaseUnavailable({ cause }))))
  )
