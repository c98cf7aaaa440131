/** A client of Effect over connections of another driver. */
import { Context, Effect, type Scope } from "effect"
import type { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlError, Statement } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import { committed } from "../committed.ts"
import * as External from "./connection.ts"
import { Current, type Response } from "./transaction.ts"

/**
 * Makes a client. Statements and transactions run on the connections of `own`; those of a fiber that has joined the
 * transaction of a caller run on the connection of that transaction.
 */
export const make = Effect.fnUntraced(function*(
  own: Effect.Effect<Connection, SqlError.SqlError, Scope.Scope>
): Effect.fn.Return<SqlClient.SqlClient, never, Reactivity.Reactivity> {
  const acquirer = Effect.withFiber<Connection, SqlError.SqlError, Scope.Scope>((fiber) => {
    const transaction = fiber.getRef(Current)
    return transaction === undefined ? own : Effect.succeed(External.joining(transaction))
  })
  const client = yield* SqlClient.make({
    acquirer,
    compiler,
    commit,
    driver: "pg",
    isTransaction: (connection) =>
      !("isUsable" in connection) || (connection as External.ExternalConnection).isUsable(),
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: [["db.system.name", "postgresql"]]
  })
  const afterOwnCommit = client.afterCommit
  const afterCommit = <R>(effect: Effect.Effect<void, never, R>) =>
    Effect.withFiber<void, never, R>((fiber) => {
      const transaction = fiber.getRef(Current)
      if (transaction === undefined) return afterOwnCommit(effect)
      // The services of the fiber, which the effect requires, without the transaction.
      const services = Context.omit(client.transactionService)(fiber.context) as Context.Context<R>
      const later = effect.pipe(Effect.provideService(Current, undefined), Effect.provideContext(services))
      // Added when the savepoint is released, so that effects of a savepoint that is rolled back do not run.
      return afterOwnCommit(
        Effect.sync(() => void transaction.afterCommit.push((signal) => Effect.runPromise(later, { signal })))
      )
    })
  return Object.assign(client, { afterCommit })
})

/** Compiles statements for Postgres. */
export const compiler = Statement.makeCompiler({
  dialect: "pg",
  placeholder: (index) => `$${index}`,
  onIdentifier: Statement.defaultEscape("\""),
  onRecordUpdate: (placeholders, valueAlias, valueColumns, values, returning) => [
    `(values ${placeholders}) AS ${valueAlias}${valueColumns}${returning ? ` RETURNING ${returning[0]}` : ""}`,
    returning ? values.flat().concat(returning[1]) : values.flat()
  ],
  onCustom: () => {
    throw new Error("Statements contain no custom fragments")
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const commit = (connection: Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (response) => committed((response as Response).command))
