/**
 * Transactions whose statements share network writes.
 *
 * A transaction that waits for the response to each of its statements holds its locks while the client is slow or
 * suspended. On a client of `over`, `BEGIN` goes with the first statement if that is a read or has the condition of `begun`, the
 * first statements of `both` go together, and the writes of `atCommit` go with `COMMIT`. So a unit of work sends all remaining statements in one network write after its last
 * decision, and Postgres ends the transaction without the client. On any other client the same statements run one after
 * the other.
 */
import { type Cause, Context, Effect, Exit, type Scope } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import * as Pipelined from "./internal/pipelinedConnection.ts"
import { sqlErrorsIn, sqlStateOf } from "./internal/sqlErrors.ts"

/**
 * The used part of a `PgPool` of `@effect/sql-pg`. Make one with `multiplex: true` and `multiplexConcurrency: 1`, so that
 * a transaction has its connection to itself. A statement in it is not cancelled when its fiber is interrupted, so limit
 * statements by `statement_timeout` and `lock_timeout`.
 */
export interface Pool {
  readonly get: Effect.Effect<Pipelined.Session, SqlError.SqlError, Scope.Scope>
}

/**
 * Changes a client so that its transactions run on the connections of `pool`, which are connected to the same database,
 * and pipeline. Returns the client.
 */
export const over = <Client extends SqlClient.SqlClient>(client: Client, pool: Pool): Client => {
  const execute = (connection: Connection, sql: string) => Effect.asVoid(connection.execute(sql, [], undefined))
  const withTransaction = SqlClient.makeWithTransaction({
    transactionService: client.transactionService,
    spanAttributes: [["db.system.name", "postgresql"]],
    acquireConnection: (restore): Effect.Effect<Connection, SqlError.SqlError, Scope.Scope> =>
      Effect.acquireRelease(Effect.map(restore(pool.get), Pipelined.make), ({ end }) => end),
    begin: (connection, statement) => pipelined(connection).begin(statement),
    savepoint: (connection, id) => execute(connection, `SAVEPOINT unit_${id}`),
    releaseSavepoint: (connection, id) => execute(connection, `RELEASE SAVEPOINT unit_${id}`),
    commit: (connection) => pipelined(connection).commit,
    onCommitFailure: (connection) => pipelined(connection).rollback,
    rollback: (connection) => pipelined(connection).rollback,
    rollbackSavepoint: (connection, id) => execute(connection, `ROLLBACK TO SAVEPOINT unit_${id}`)
  })
  return Object.assign(client, {
    withTransaction: <R, E, A>(effect: Effect.Effect<A, E, R>) =>
      withTransaction(Effect.withFiber((fiber) => {
        const [connection] = Context.get(
          fiber.context as Context.Context<SqlClient.TransactionConnection>,
          client.transactionService
        )
        return Effect.provideService(effect, Current, pipelined(connection))
      }))
  })
}

/**
 * Runs the writes of an effect with the commit of the surrounding transaction, if its client pipelines: those for which a
 * store uses `write`. The effect returns before they run, so their failures are those of the transaction. Later statements
 * of the transaction see them. Without a transaction, in a savepoint, and on other clients, the writes run immediately.
 */
export const atCommit: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = (effect) =>
  Effect.provideService(effect, DefersWrites, true)

/**
 * Runs a write of a store whose rows nobody reads, or leaves it to `atCommit`. `defectOf` returns the defect that an
 * error of the statement stands for, or `undefined`.
 */
export const write = (
  sql: SqlClient.SqlClient,
  statement: Statement.Statement<unknown>,
  defectOf: (error: SqlError.SqlError) => unknown = () => undefined
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.withFiber((fiber) => {
    const connection = fiber.getRef(DefersWrites) ? connectionOf(sql, fiber.context) : undefined
    if (connection === undefined) {
      return Effect.catch(Effect.asVoid(statement), (error) => {
        const defect = defectOf(error)
        return defect === undefined ? Effect.fail(error) : Effect.die(defect)
      })
    }
    return connection.defer({
      statement: Effect.provideService(statement, sql.transactionService, [connection.direct, 0]),
      defectOf
    })
  })

/**
 * `write` for a statement that divides by zero unless its rows are as they were loaded. If they are not, it dies with the defect of `stale`.
 */
export const writeCurrent = (
  sql: SqlClient.SqlClient,
  statement: Statement.Statement<unknown>,
  stale: () => unknown
): Effect.Effect<void, SqlError.SqlError> =>
  write(sql, statement, (error) => sqlStateOf(error) === divisionByZero ? stale() : undefined)

/**
 * Returns a condition that holds in the surrounding transaction. A write that does nothing without it may be sent together with
 * `BEGIN`, which can fail alone: a server that was asked to cancel it runs the write outside of the transaction.
 */
export const begun = (sql: SqlClient.SqlClient): Effect.Effect<Statement.Fragment> =>
  Effect.withFiber((fiber) => Effect.succeed(sql.literal(connectionOf(sql, fiber.context)?.condition() ?? "TRUE")))

/**
 * Runs two effects and returns both results. In a pipelined transaction their first statements go together, the first
 * effect's before the second one's, so neither may depend on a response to the other. Otherwise the second effect runs after
 * the first one.
 */
export const both = <A, E, R, B, E2, R2>(
  first: Effect.Effect<A, E, R>,
  second: Effect.Effect<B, E2, R2>
): Effect.Effect<readonly [A, B], E | E2, R | R2> =>
  Effect.withFiber((fiber) => {
    if (fiber.getRef(Current)?.hasEnded() !== false) return Effect.zip(first, second)
    // A failure of one causes a failure of the other one, which must not interrupt it.
    return Effect.flatMap(
      Effect.all([Effect.exit(first), Effect.exit(second)], { concurrency: "unbounded" }),
      ([first, second]) =>
        Exit.isFailure(first) && Exit.isFailure(second) && isAfterFailure(first.cause)
          ? Effect.failCause(second.cause)
          : Effect.zip(first, second)
    )
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The connection of the surrounding transaction, if that pipelines. Callbacks of a commit have it after its end. */
const Current = Context.Reference<Pipelined.PipelinedConnection | undefined>(
  "@kinora/persistence/Pipelining/Current",
  { defaultValue: () => undefined }
)

/** Whether `write` leaves a write to the commit. */
const DefersWrites = Context.Reference<boolean>("@kinora/persistence/Pipelining/DefersWrites", {
  defaultValue: () => false
})

/** Returns whether a statement failed only because an earlier one of the transaction had failed. */
const isAfterFailure = (cause: Cause.Cause<unknown>): boolean =>
  sqlErrorsIn(cause).some((error) => sqlStateOf(error) === inFailedTransaction)

const inFailedTransaction = "25P02"

const divisionByZero = "22012"

/** The transactions of a client of `over` have no other connections. */
const pipelined = (connection: Connection): Pipelined.PipelinedConnection => connection as Pipelined.PipelinedConnection

/** The connection of the surrounding transaction, if it pipelines. */
const connectionOf = (
  sql: SqlClient.SqlClient,
  context: Context.Context<never>
): Pipelined.PipelinedConnection | undefined => {
  const transaction = Context.getOrUndefined(context, sql.transactionService)
  if (transaction === undefined) return undefined
  const [connection, savepoint] = transaction
  // A write within a savepoint fails there, so that its caller can roll back to it and continue.
  return savepoint === 0 && Pipelined.isPipelined(connection) ? connection : undefined
}
