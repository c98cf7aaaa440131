/** The database of a host: Postgres, or the embedded database in the data directory. */
import { PgClient } from "@effect/sql-pg"
import { Migrations } from "@kinora/persistence"
import type { StorageError } from "@kinora/persistence/StorageError"
import { PgliteClient } from "@kinora/pglite"
import { Context, Data, Duration, Effect, Layer, type Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { join } from "node:path"
import * as ResponsiveSockets from "./internal/database/responsiveSockets.ts"

/** Options for `Database.layer`. */
export interface DatabaseOptions {
  /** URL of a Postgres. If `undefined`, the embedded database is used. */
  readonly url: Redacted.Redacted | undefined
  /** Directory of the embedded database. The caller holds its lock (`DataDirectory.acquire`). */
  readonly dataDirectory: string
  /** Maximum number of connections to Postgres. Default 16. */
  readonly maxConnections?: number | undefined
  /**
   * Time without a response of Postgres after which a connection ends. Longer than the limit of a
   * statement, 30 seconds. Default 40 seconds.
   */
  readonly silenceMax?: Duration.Input | undefined
}

/** The database does not respond. */
export class DatabaseUnavailable
  extends Data.TaggedError("DatabaseUnavailable")<{ readonly cause: SqlError.SqlError }>
{
  override get message(): string {
    return `The database does not respond (${this.cause.reason._tag}). Check KINORA_DATABASE_URL`
  }
}

/** The database became unavailable during the migrations. */
export class DatabaseLost extends Data.TaggedError("DatabaseLost")<{ readonly cause: StorageError }> {
  override get message(): string {
    return "The database stopped responding during a migration. The migration was rolled back; start again"
  }
}

/**
 * The database client. Statements of many fibers share connections (`multiplex`); a unit
 * of work has its own connection. A statement fails after 10 seconds of waiting
 * for a lock, which bounds the wait of a request for another one with the same
 * idempotency key. It fails after 30 seconds of work, and a connection ends after
 * `silenceMax` without a response.
 */
export const layer = (
  options: DatabaseOptions
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, DatabaseUnavailable> =>
  (options.url === undefined
    ? PgliteClient.layer({ dataDirectory: join(options.dataDirectory, "database") })
    : layerPostgres(options.url, options)).pipe(connected)

/**
 * Runs the migrations. On Postgres they use a separate connection without a statement
 * timeout, since rewriting a large table takes longer than a request may. The lock
 * timeout applies.
 */
export const layerMigrations = (
  { url }: Pick<DatabaseOptions, "url">,
  packages: ReadonlyArray<Migrations.Migrations>
): Layer.Layer<never, DatabaseLost | DatabaseUnavailable | Migrations.SchemaMismatch, SqlClient.SqlClient> => {
  const migrate = Effect.catchTag(
    Migrations.run(packages),
    "StorageError",
    (cause) => Effect.fail(new DatabaseLost({ cause }))
  )
  return Layer.effectDiscard(url === undefined ? migrate : Effect.provide(migrate, layerWithoutTimeout(url)))
}

/** Returns `true` if the database responds to a statement within 2 seconds. */
export const isReady: Effect.Effect<boolean, never, SqlClient.SqlClient> = SqlClient.SqlClient.use((sql) =>
  sql`SELECT 1`.pipe(
    Effect.as(true),
    Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => Effect.succeed(false) }),
    Effect.catch(() => Effect.succeed(false))
  )
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const layerPostgres = (
  url: Redacted.Redacted,
  { maxConnections = 16, silenceMax = "40 seconds" }: Pick<DatabaseOptions, "maxConnections" | "silenceMax">
) =>
  Layer.unwrap(Effect.map(
    ResponsiveSockets.make({ url, silenceMax: Duration.fromInputUnsafe(silenceMax), keepAlive }),
    (stream) =>
      PgClient.layer({
        ...connection(url),
        stream,
        maxConnections,
        multiplex: true,
        multiplexConcurrency: 8,
        startupParameters: { ...waits, statement_timeout: "30s" }
      })
  ))

/** Without it, a connection that waits for a notification or a long statement would detect a lost peer after hours. */
const keepAlive = Duration.seconds(30)

const connection = (url: Redacted.Redacted) => ({
  url,
  applicationName: "kinora",
  connectTimeout: "5 seconds",
  keepAlive
} as const)

const waits = { lock_timeout: "10s", idle_in_transaction_session_timeout: "60s" }

/** Connects immediately. A pool would connect on first use. */
const connected = <Services>(database: Layer.Layer<Services | SqlClient.SqlClient, SqlError.SqlError>) =>
  database.pipe(
    Layer.tap((context) => Context.get(context, SqlClient.SqlClient)`SELECT 1`),
    Layer.catchTag("SqlError", (cause) => Layer.effectContext(Effect.fail(new DatabaseUnavailable({ cause }))))
  )

/** One connection without a statement timeout. */
const layerWithoutTimeout = (url: Redacted.Redacted) =>
  PgClient.layer({ ...connection(url), maxConnections: 1, startupParameters: { ...waits, statement_timeout: "0" } })
    .pipe(connected)
