/**
 * The connection of migrations. It has no statement timeout, since rewriting a large table takes longer than a request
 * may. It ends if Postgres does not work on its statement: if the statement or its response was lost, or if the server
 * does not respond to another connection either.
 */
import { PgClient } from "@effect/sql-pg"
import { type Duration, Effect, identity, Layer, Random, type Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as ResponsiveSockets from "./responsiveSockets.ts"

/** Options for `layer`. */
export interface MigrationClientOptions {
  readonly url: Redacted.Redacted
  /** Time without a response after which another connection asks whether the server works on the statement. */
  readonly silenceMax: Duration.Duration
  /** See `ResponsiveSockets.make`. */
  readonly keepAlive: Duration.Duration
}

/** One connection without a statement timeout. */
export const layer = (options: MigrationClientOptions) =>
  Layer.unwrap(Effect.gen(function*() {
    // A connection that was replaced has the same name.
    const applicationName = `kinora migrations ${yield* Random.nextInt}`
    const stream = yield* ResponsiveSockets.make({ ...options, isWorking: isWorking(applicationName, options) })
    return PgClient.layer({
      url: options.url,
      applicationName,
      connectTimeout: options.silenceMax,
      keepAlive: options.keepAlive,
      stream,
      maxConnections: 1,
      startupParameters: { lock_timeout: "10s", idle_in_transaction_session_timeout: "60s", statement_timeout: "0" }
    })
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Number of times that the server is asked, so that one lost connection does not end a migration of hours. */
const attemptsMax = 3

/** Asks the server on another connection whether the named one runs a statement. */
const isWorking = (applicationName: string, options: MigrationClientOptions): Effect.Effect<boolean> =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    // `state` is unknown if `track_activities` is off.
    const [row] = yield* sql<{ readonly working: boolean }>`
      SELECT EXISTS (
        SELECT FROM pg_stat_activity
        WHERE application_name = ${applicationName} AND coalesce(state, 'unknown') NOT LIKE 'idle%'
      ) AS working
    `
    return row?.working === true
  }).pipe(
    Effect.provide(Layer.fresh(layerProbe(options))),
    // A server that rejects the connection, for example because it has too many, responds.
    Effect.catch(({ reason }) => Effect.succeed(reason._tag !== "ConnectionError")),
    Effect.repeat({ until: identity<boolean>, times: attemptsMax - 1, schedule: Schedule.spaced(options.silenceMax) })
  )

/** A connection that ends if a response takes longer than `silenceMax`. */
const layerProbe = (options: MigrationClientOptions) =>
  Layer.unwrap(Effect.map(ResponsiveSockets.make(options), (stream) =>
    PgClient.layer({
      url: options.url,
      applicationName: "kinora",
      connectTimeout: options.silenceMax,
      keepAlive: options.keepAlive,
      stream,
      maxConnections: 1
    })))
