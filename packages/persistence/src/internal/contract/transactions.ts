/** The ways in which a caller can open a transaction, for tests of packages that work in transactions of their callers. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { UnitOfWork } from "../../UnitOfWork.ts"

/** Runs an effect in a transaction. If the effect fails, the transaction is rolled back, and the result dies with the error. */
export type InTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, never, R>

/**
 * The ways to open a transaction, by name. A folded call that looks only at the unit of work, or only at the transaction of the
 * client, fails a test that runs in both.
 */
export const transactions: Readonly<
  Record<
    "sql.withTransaction" | "UnitOfWork.atomically",
    Effect.Effect<InTransaction, never, SqlClient.SqlClient | UnitOfWork>
  >
> = {
  "sql.withTransaction": Effect.map(
    SqlClient.SqlClient,
    (sql): InTransaction => (effect) => Effect.orDie(sql.withTransaction(effect))
  ),
  "UnitOfWork.atomically": Effect.map(
    UnitOfWork,
    ({ atomically }): InTransaction => (effect) => Effect.orDie(atomically(effect))
  )
}
