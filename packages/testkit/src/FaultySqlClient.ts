/**
 * A `SqlClient` whose statements and commits fail as `Faults` say. The statements run on the
 * surrounding client, so a commit whose response is lost has taken effect.
 */
import { PgClient, type PgPool } from "@effect/sql-pg"
import { Effect, Layer, Scope, Semaphore } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import * as Faults from "./Faults.ts"

/** Options for `layer`. */
export interface FaultySqlClientOptions {
  /** Default: no call fails. */
  readonly faults?: Faults.Faults | undefined
  /** Runs the statements that reach the database. A clock of a test stands still meanwhile. Default: runs them. */
  readonly still?: (<A, E, R>(statement: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>) | undefined
  /**
   * The sessions of transactions that share network writes, with the same faults, and `Pipelining.over` of
   * `@kinora/persistence`, which depends on this package. Default: transactions send one statement at a time.
   */
  readonly pipelining?: {
    readonly pool: Pool
    readonly over: (client: SqlClient.SqlClient, pool: Pool) => SqlClient.SqlClient
  } | undefined
}

/** The used part of a pool of sessions. */
export interface Pool {
  readonly get: Effect.Effect<Session, SqlError.SqlError, Scope.Scope>
}

/**
 * A client over the surrounding one, with faults. After a lost connection its transaction is
 * rolled back, as the server does, and every later statement on the connection fails. Streams
 * have no faults.
 */
export const layer = (
  options: FaultySqlClientOptions
): Layer.Layer<SqlClient.SqlClient, never, SqlClient.SqlClient> =>
  Layer.effect(SqlClient.SqlClient, Effect.flatMap(SqlClient.SqlClient, (sql) => make(sql, options))).pipe(
    Layer.provide(Reactivity.layer)
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Session = Pick<Effect.Success<PgPool.PgPool["get"]>, "query" | "queryValues" | "stream">

const make = (sql: SqlClient.SqlClient, options: FaultySqlClientOptions) => {
  const { pipelining } = options
  const client = makeClient(sql, options)
  if (pipelining === undefined) return client
  const { over, pool } = pipelining
  return Effect.map(client, (client) =>
    over(client, {
      get: Effect.flatMap(still(options, pool.get), (session) => faultySession(session, options))
    }))
}

const makeClient = (sql: SqlClient.SqlClient, options: FaultySqlClientOptions) =>
  SqlClient.make({
    acquirer: Effect.flatMap(still(options, sql.reserve), (connection) => faulty(connection, options)),
    compiler: PgClient.makeCompiler(),
    driver: sql.driver,
    spanAttributes: [],
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    // As the driver: Postgres ends an aborted transaction with the response `ROLLBACK`.
    commit: (connection) =>
      Effect.flatMap(connection.executeRaw("COMMIT", []), (result) =>
        isRolledBack(result) ? Effect.fail(errorOf("conflict")) : Effect.void)
  })

const still = <A, E, R>({ still = (effect) => effect }: FaultySqlClientOptions, effect: Effect.Effect<A, E, R>) =>
  still(effect)

const isRolledBack = (result: unknown): boolean =>
  typeof result === "object" && result !== null && "command" in result && result.command === "ROLLBACK"

/** A connection with faults. */
const faulty = Effect.fnUntraced(function*(connection: SqlConnection.Connection, options: FaultySqlClientOptions) {
  const run = yield* makeRun(connection.executeUnprepared("ROLLBACK", [], undefined), options)
  return {
    execute: (sql, params, transform) => run(sql, (sql) => connection.execute(sql, params, transform)),
    executeRaw: (sql, params) => run(sql, (sql) => connection.executeRaw(sql, params)),
    executeStream: connection.executeStream,
    executeValues: (sql, params) => run(sql, (sql) => connection.executeValues(sql, params)),
    executeValuesUnprepared: (sql, params) => run(sql, (sql) => connection.executeValuesUnprepared(sql, params)),
    executeUnprepared: (sql, params, transform) =>
      run(sql, (sql) => connection.executeUnprepared(sql, params, transform))
  } satisfies SqlConnection.Connection
})

/** A session with faults. It runs statements in the order in which they were sent, as a server does. */
const faultySession = Effect.fnUntraced(function*(session: Session, options: FaultySqlClientOptions) {
  const run = yield* makeRun(session.query("ROLLBACK"), options)
  const turn = Semaphore.makeUnsafe(1)
  const inTurn: typeof run = (sql, statement) => turn.withPermits(1)(run(sql, statement))
  return {
    query: (sql, params, prepare) => inTurn(sql, (sql) => session.query(sql, params, prepare)),
    queryValues: (sql, params, prepare) => inTurn(sql, (sql) => session.queryValues(sql, params, prepare)),
    stream: (sql, params) => session.stream(sql, params)
  } satisfies Session
})

/**
 * Makes the function that runs the statements of a connection with faults. When the scope closes after a lost connection,
 * `rollBack` runs: the server rolls back when it notices the loss. Outside of a transaction this changes nothing.
 */
const makeRun = Effect.fnUntraced(
  function*(rollBack: Effect.Effect<unknown, SqlError.SqlError>, options: FaultySqlClientOptions) {
    const state = { isLost: false, isOpen: false, isAborted: false }
    const scope = yield* Effect.scope
    yield* Scope.addFinalizer(
      scope,
      Effect.suspend(() => state.isLost ? Effect.ignore(still(options, rollBack)) : Effect.void)
    )

    return <A>(sql: string, statement: (sql: string) => Effect.Effect<A, SqlError.SqlError>) =>
      Effect.suspend(() => {
        if (state.isLost) return Effect.fail(errorOf("lostBefore"))
        const isEnd = sql === "COMMIT" || sql === "ROLLBACK"
        if (state.isAborted && !sql.startsWith("ROLLBACK")) {
          // The response of Postgres to `COMMIT` is then that of `ROLLBACK`.
          if (!isEnd) return Effect.fail(aborted())
          state.isAborted = false
          return still(options, statement("ROLLBACK"))
        }
        if (sql === "BEGIN") state.isOpen = true
        if (sql.startsWith("ROLLBACK")) state.isAborted = false
        if (isEnd) state.isOpen = false
        const fault = sql.startsWith("ROLLBACK") ? undefined : options.faults?.next(callOf(sql))
        if (isEnd && fault !== undefined && isRefusal(fault.kind)) {
          // Postgres ends the transaction of a commit that it refuses.
          return Effect.andThen(still(options, statement("ROLLBACK")), Effect.fail(errorOf(fault.kind)))
        }
        return Faults.around(fault, still(options, statement(sql)), {
          failureOf: (kind) => {
            state.isAborted = state.isOpen && !state.isLost
            return errorOf(kind)
          },
          lose: () => {
            state.isLost = true
          }
        })
      })
  }
)

const callOf = (sql: string): Faults.Call =>
  sql === "COMMIT" ? { place: "commit", isWrite: true } : { place: "statement", isWrite: writes.test(sql) }

/** Statements that a read-only server refuses, and reads that lock rows. */
const writes = /^\s*(INSERT|UPDATE|DELETE|MERGE|WITH|TRUNCATE)\b|\bFOR\s+(NO\s+KEY\s+)?(UPDATE|SHARE)\b/i

/** Returns whether the server fails the call. Otherwise the connection is lost, or the call runs. */
const isRefusal = (kind: Faults.Kind): kind is "conflict" | "full" | "readOnly" =>
  kind === "conflict" || kind === "full" || kind === "readOnly"

const errorOf = (kind: Faults.Failure): SqlError.SqlError => new SqlError.SqlError({ reason: reasonOf(kind) })

const reasonOf = (kind: Faults.Failure): SqlError.SqlErrorReason => {
  switch (kind) {
    case "conflict":
      return new SqlError.SerializationError({ cause: stateOf("40001"), operation: "execute" })
    case "full":
      return new SqlError.UnknownError({ cause: stateOf("53100"), operation: "execute" })
    case "readOnly":
      return new SqlError.UnknownError({ cause: stateOf("25006"), operation: "execute" })
    default:
      return new SqlError.ConnectionError({ cause: new Error("The connection was lost"), operation: "execute" })
  }
}

/** The response of Postgres to a statement after one that failed. */
const aborted = () =>
  new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: stateOf("25P02"), operation: "execute" }) })

/** The error of a server, with its SQLSTATE. */
const stateOf = (code: string) => Object.assign(new Error(`SQLSTATE ${code}`), { code })
