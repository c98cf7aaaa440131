/** Locks in the database of a site that a drill holds, so that a worker waits for one at an exact moment. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"

/** Connects to a database until the scope closes. */
export const connect = (url: string) =>
  Effect.map(Layer.build(PgClient.layer({ url: Redacted.make(url), maxConnections: 4 })), (services) => {
    const sql = <Row extends object>(text: string) =>
      Effect.provideContext(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Row>(text)), services)

    /** Number of sessions that wait for a lock. */
    const waiting = Effect.map(
      sql("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"),
      ({ length }) => length
    )

    return {
      /** Runs a statement and returns its rows. */
      sql,
      /** Waits until at least this many sessions wait for a lock. */
      awaitWaiting: (count: number) => Effect.repeat(waiting, { until: (length) => length >= count }),
      /**
       * Opens a transaction, runs a statement that locks, and returns an effect that rolls back. The transaction is also
       * rolled back when the scope closes.
       */
      lock: Effect.fnUntraced(function*(statement: string) {
        const scope = yield* Scope.fork(yield* Effect.scope)
        const connection = yield* Scope.provide(
          Effect.provideContext(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.reserve), services),
          scope
        )
        const run = (text: string) => connection.executeUnprepared(text, [], undefined)
        yield* run("BEGIN")
        yield* Scope.addFinalizer(scope, Effect.ignore(run("ROLLBACK")))
        yield* run(statement)
        return Scope.close(scope, Exit.void)
      })
    }
  })
