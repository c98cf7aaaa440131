/** The database of a host: Postgres when a URL is given, else an embedded one in the data directory. */
import { PgClient } from "@effect/sql-pg"
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
      url: options.url,
      applicationName: "kinora",
      maxConnections: options.maxConnections ?? 16,
      multiplex: true,
      multiplexConcurrency: 8,
      connectTimeout: "5 seconds",
      // A connection that waits for a hint would not notice for hours that the other end is gone.
      keepAlive: "30 seconds",
      startupParameters: {
        lock_timeout: "10s",
        statement_timeout: "30s",
        idle_in_transaction_session_timeout: "60s"
      }
    })).pipe(
      // A pool connects when it is first used, which is to be now.
      Layer.tap((context) => Context.get(context, SqlClient.SqlClient)`SELECT 1`),
      Layer.catchTag("SqlError", (cause) => Layer.effectContext(Effect.fail(new DatabaseUnavailable({ cause }))))
    )

/** Whether the database answers a statement. */
export const isReady: Effect.Effect<boolean, never, SqlClient.SqlClient> = SqlClient.SqlClient.use((sql) =>
  sql`SELECT 1`.pipe(
    Effect.as(true),
    Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => Effect.succeed(false) }),
    Effect.catch(() => Effect.succeed(false))
  )
)
