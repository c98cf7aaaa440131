/** The database of a host: Postgres when a URL is given, else an embedded one in the data directory. */
import { PgClient } from "@effect/sql-pg"
import { Migrations } from "@kinora/persistence"
import type { StorageError } from "@kinora/persistence/StorageError"
import { PgliteClient } from "@kinora/pglite"
import { Context, Data, Effect, Layer, type Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { join } from "node:path"

/** Where the data is. */
export interface DatabaseOptions {
  readonly url: Redacted.Redacted | undefined
  /** Directory of the embedded database. The caller owns it (`DataDirectory.acquire`). */
  readonly dataDirectory: string
  /** Connections to Postgres. Default 16. */
  readonly maxConnections?: number | undefined
}

/** The database does not answer. */
export class DatabaseUnavailable
  extends Data.TaggedError("DatabaseUnavailable")<{ readonly cause: SqlError.SqlError }>
{
  override get message(): string {
    return `The database does not answer (${this.cause.reason._tag}); check KINORA_DATABASE_URL`
  }
}

/** The database went away while its schema was brought up to date. */
export class DatabaseLost extends Data.TaggedError("DatabaseLost")<{ readonly cause: StorageError }> {
  override get message(): string {
    return "The database stopped answering while its schema was brought up to date; " +
      "what was not finished is undone, so start again"
  }
}

/**
 * Statements of many fibers share connections (`multiplex`); a unit of work has one
 * for itself. A lock that is not had within 10 s fails its statement, which is how
 * long a request waits for another one with the same idempotency key (D14).
 */
export const layer = (
  options: DatabaseOptions
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, DatabaseUnavailable> =>
  (options.url === undefined
    ? PgliteClient.layer({ dataDirectory: join(options.dataDirectory, "database") })
    : PgClient.layer({
      ...connection(options.url),
      maxConnections: options.maxConnections ?? 16,
      multiplex: true,
      multiplexConcurrency: 8,
      startupParameters: { ...waits, statement_timeout: "30s" }
    })).pipe(reachable)

/**
 * Brings the schema up to date. On Postgres over a connection of its own, on which a
 * statement may take as long as it takes: one that rewrites a large table must not be
 * given up at the limit that requests have. It still does not wait for locks for long.
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
  return Layer.effectDiscard(url === undefined ? migrate : Effect.provide(migrate, layerUnhurried(url)))
}

/** Whether the database answers a statement. */
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

const connection = (url: Redacted.Redacted) => ({
  url,
  applicationName: "kinora",
  connectTimeout: "5 seconds",
  // A connection that waits, for a hint or for a long statement, would not notice for hours that the other end is gone.
  keepAlive: "30 seconds"
} as const)

const waits = { lock_timeout: "10s", idle_in_transaction_session_timeout: "60s" }

/** A pool connects when it is first used, which is to be now. */
const reachable = <Services>(database: Layer.Layer<Services | SqlClient.SqlClient, SqlError.SqlError>) =>
  database.pipe(
    Layer.tap((context) => Context.get(context, SqlClient.SqlClient)`SELECT 1`),
    Layer.catchTag("SqlError", (cause) => Layer.effectContext(Effect.fail(new DatabaseUnavailable({ cause }))))
  )

/** One connection without a limit for a statement. */
const layerUnhurried = (url: Redacted.Redacted) =>
  PgClient.layer({ ...connection(url), maxConnections: 1, startupParameters: { ...waits, statement_timeout: "0" } })
    .pipe(reachable)
