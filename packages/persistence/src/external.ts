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
import * as Listen from "./internal/external/listen.ts"
import { types } from "./internal/external/pgValues.ts"
import * as PostgresJs from "./internal/external/postgresJs.ts"
import * as Prisma from "./internal/external/prisma.ts"
import * as QueryBuilders from "./internal/external/queryBuilders.ts"
import { fromDriver } from "./internal/external/sqlError.ts"
import * as External from "./internal/external/transaction.ts"
import * as Turn from "./internal/external/turn.ts"
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
  connect(): Promise<PooledClient>
  readonly options?: { readonly max?: number | undefined } | undefined
}

/** A client of a pool. */
interface PooledClient extends PgClient {
  release(destroy?: boolean): void
  on(event: "error", listener: (error: Error) => void): unknown
  on(event: "end", listener: () => void): unknown
  on(
    event: "notification",
    listener: (notification: { readonly channel: string; readonly payload?: string | undefined }) => void
  ): unknown
  removeListener(event: "error", listener: () => void): unknown
}

/** The used part of postgres.js: the `sql` of `sql.begin` and `sql.reserve` fit. */
export interface PostgresSql extends PostgresJs.PostgresSql {}

/** The used part of a transaction of Drizzle, over any of its drivers of Postgres. */
export interface DrizzleTransaction extends QueryBuilders.DrizzleTransaction {}

/** The used part of Kysely: transactions and controlled transactions fit. */
export interface KyselyTransaction extends QueryBuilders.KyselyTransaction {}

/** The used part of a transaction of Knex over `pg`. */
export interface KnexTransaction extends QueryBuilders.KnexTransaction {}

/** The used part of Prisma: the client that an interactive transaction passes fits. */
export interface PrismaTransaction extends Prisma.PrismaTransaction {}

/** Returns the transaction that is open on a client of `pg`. */
export const fromPg = (client: PgClient): Transaction => External.make(client, queryOf(client))

/**
 * Returns the transaction of `sql.begin`, or one that was begun on a connection of `sql.reserve`. Calls die if the client
 * of postgres.js has a `transform` of rows.
 */
export const fromPostgres = (sql: PostgresSql): Transaction => External.make(sql, PostgresJs.queryOf(sql))

/** Returns the transaction that `db.transaction` of Drizzle passes to its function. */
export const fromDrizzle = (tx: DrizzleTransaction): Transaction => External.make(tx, QueryBuilders.ofDrizzle(tx))

/** Returns the transaction that Kysely passes to the function of `execute`, or that `startTransaction` returned. */
export const fromKysely = (trx: KyselyTransaction): Transaction => External.make(trx, QueryBuilders.ofKysely(trx))

/** Returns the transaction that `knex.transaction` passes or returns. */
export const fromKnex = (trx: KnexTransaction): Transaction => External.make(trx, QueryBuilders.ofKnex(trx))

/** Returns the interactive transaction that `prisma.$transaction` passes to its function. Tested with Prisma 7. */
export const fromPrisma = (tx: PrismaTransaction): Transaction => External.make(tx, Prisma.queryOf(tx))

/**
 * Returns the transaction of another driver, from a function that runs a statement in it and returns its rows as objects.
 *
 * The statement has the parameters `$1`, `$2` and so on, which are null, booleans, bytes, and for all other types the
 * text that Postgres reads. In rows, JSON and arrays are parsed and `int4` and `float8` are numbers. A `timestamptz` is a
 * `Date` or text with its offset, an `int8` a `bigint`, number or text, and a `bytea` is bytes or hexadecimal text. An
 * error of the server has its SQLSTATE as `code`, or the error that it has as `cause`; any other means that the connection
 * is lost.
 */
export const fromQuery = (
  query: (text: string, values: Array<null | boolean | string | Uint8Array>) => Promise<ReadonlyArray<object>>
): Transaction => External.make(query, async (text, values) => ({ rows: await query(text, [...values]) }))

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
    const joined = unit.pipe(Effect.provideService(External.Current, transaction), Turn.hold(transaction.turn))
    return UnitOfWork.use(({ isOpen }) => Effect.flatMap(isOpen, (open) => open ? insideOfUnit : joined))
  })

/**
 * Runs the effects that joined calls left for the time after the commit, for example to wake workers. Call it after the `COMMIT`. Without it,
 * the background work of the packages does the same later.
 */
export const committed = (transaction: Transaction): Effect.Effect<void> =>
  Effect.suspend(() =>
    Effect.forEach(
      transaction.afterCommit.splice(0),
      (later) => Effect.ignoreCause(Effect.tryPromise(later), { log: "Warn" }),
      { discard: true }
    )
  )

/**
 * Provides a client over the connections of a pool of `pg`. Leaves the pool open. Workers that wait for notifications take
 * one connection; those of several schedulers leave one of the pool to statements, and poll.
 */
export const layerPg = (pool: PgPool): Layer.Layer<SqlClient.SqlClient> =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.map(Client.make(lease(pool)), (client) =>
      Object.assign(client, {
        listen: Listen.make(pool, connect(pool), (client, text) => queryOf(client)(text, [])),
        config: { maxConnections: pool.options?.max }
      }))
  ).pipe(Layer.provide(Reactivity.layer))

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
    Effect.map(connect(pool), (client) => ({ client, connection: Connection.make(queryOf(client)) })),
    ({ client, connection }) =>
      Effect.sync(() => {
        client.removeListener("error", ignoreError)
        client.release(!connection.isUsable())
      }),
    { interruptible: true }
  ).pipe(Effect.map(({ connection }) => connection))

const ignoreError = () => {}

/** A client in use reports a lost connection to its statement, and also as an event, which would end the process. */
const watched = (client: PooledClient): PooledClient => {
  client.on("error", ignoreError)
  return client
}

/** A caller that is interrupted while it waits returns the client when it gets it. */
const connect = (pool: PgPool) =>
  Effect.callback<PooledClient, SqlError.SqlError>((resume) => {
    let hasLeft = false
    pool.connect().then(
      (client) => hasLeft ? client.release() : resume(Effect.succeed(watched(client))),
      (error: unknown) => resume(Effect.fail(fromDriver(error)))
    )
    return Effect.sync(() => {
      hasLeft = true
    })
  })
