/**
 * Calls in transactions of other drivers.
 *
 * A team that uses Postgres through a driver of its own passes the transaction that it has opened. Everything that a
 * call writes becomes a savepoint of it: it is committed by the team's `COMMIT`, and undone by its `ROLLBACK`.
 *
 *     const tx = External.fromPg(client)
 *     await client.query("BEGIN")
 *     await Effect.runPromise(External.join(tx)(ledger.charge(command)).pipe(Effect.provide(layer)))
 *     await client.query("COMMIT")
 */
import { Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlError } from "effect/sql"
import * as Client from "./internal/external/client.ts"
import * as Connection from "./internal/external/connection.ts"
import { types } from "./internal/external/pgValues.ts"
import { fromDriver } from "./internal/external/sqlError.ts"
import * as External from "./internal/external/transaction.ts"
import type { StorageError } from "./StorageError.ts"
import { UnitOfWork } from "./UnitOfWork.ts"

/** A transaction that a caller has opened. Use one per transaction, from its `BEGIN` to its `COMMIT`. */
export interface Transaction extends External.Transaction {}

/** The used part of a client of `pg`: `pg.Client` and `pg.PoolClient` fit. */
export interface PgClient {
  query(config: {
    readonly text: string
    readonly values: Array<unknown>
    readonly types: { getTypeParser(oid: number, format?: string): (value: string) => unknown }
  }): Promise<{ readonly rows: ReadonlyArray<object>; readonly command: string }>
}

/** The used part of a pool of `pg`: `pg.Pool` fits. */
export interface PgPool {
  connect(): Promise<PgClient & { release(destroy?: boolean): void }>
}

/** Returns the transaction that is open on a client of `pg`. */
export const fromPg = (client: PgClient): Transaction => External.make(client, queryOf(client))

/**
 * Runs an effect in the transaction of a caller, as one unit of work. Calls that join one transaction at the same time
 * run one after the other. The client of the unit must be one of this module, such as `layerPg`. Dies inside of a unit or
 * transaction of that client, since what the unit has written cannot become a part of the caller's.
 */
export const join = (
  transaction: Transaction
): <A, E, R>(
  effect: Effect.Effect<A, E, R>
) => Effect.Effect<A, Exclude<E, SqlError.SqlError> | StorageError, R | UnitOfWork> =>
(effect) =>
  Effect.withFiber((fiber) => {
    const unit = UnitOfWork.use(({ atomically }) => atomically(effect))
    // A call within a call of the same transaction, which has the turn.
    if (fiber.getRef(External.Current)?.turn === transaction.turn) return unit
    const joined = unit.pipe(Effect.provideService(External.Current, transaction), transaction.turn.withPermits(1))
    return UnitOfWork.use(({ isOpen }) => Effect.flatMap(isOpen, (open) => open ? insideOfUnit : joined))
  })

/**
 * Runs the effects that joined calls left for the time after the commit, for example to wake workers. Call it after the `COMMIT`. Without it,
 * the background work of the packages does the same later.
 */
export const committed = (transaction: Transaction): Effect.Effect<void> =>
  Effect.suspend(() =>
    Effect.forEach(transaction.afterCommit.splice(0), (effect) => Effect.ignoreCause(effect, { log: "Warn" }), {
      discard: true
    })
  )

/** Provides a client over the connections of a pool of `pg`. Leaves the pool open. */
export const layerPg = (pool: PgPool): Layer.Layer<SqlClient.SqlClient> =>
  Layer.effect(SqlClient.SqlClient, Client.make(lease(pool))).pipe(Layer.provide(Reactivity.layer))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const insideOfUnit = Effect.suspend(() =>
  Effect.die(new Error("A unit of work is open, so it cannot join the transaction of a caller. Join before it opens"))
)

const queryOf = (client: PgClient): External.Query => (text, values) =>
  client.query({ text, values: [...values], types })

/** Lends a client of the pool. One that cannot be used again is closed. */
const lease = (pool: PgPool) =>
  Effect.acquireRelease(
    Effect.map(
      Effect.tryPromise({ try: () => pool.connect(), catch: fromDriver }),
      (client) => ({ client, connection: Connection.make(queryOf(client)) })
    ),
    ({ client, connection }) => Effect.sync(() => client.release(!connection.isUsable()))
  ).pipe(Effect.map(({ connection }) => connection))
