/** Programs that use Postgres through drivers of their own. */
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres"
import { drizzle as drizzlePostgres } from "drizzle-orm/postgres-js"
import { sql as drizzleSql } from "drizzle-orm/sql"
import createKnex, { type Knex } from "knex"
import { CamelCasePlugin, CompiledQuery, Kysely, PostgresDialect, type Transaction } from "kysely"
import type { PoolClient } from "pg"
import postgres from "postgres"
import * as PgPool from "../PgPool.ts"
import * as PrismaClient from "./prismaClient.ts"

/** The functions that return a transaction of a driver. Properties, so that the compiler compares their parameters. */
export interface Adapters<Tx> {
  readonly fromPg: (client: PoolClient) => Tx
  readonly fromPostgres: (sql: postgres.TransactionSql | postgres.ReservedSql) => Tx
  readonly fromDrizzle: (tx: DrizzleTransaction) => Tx
  readonly fromKysely: (trx: Transaction<unknown>) => Tx
  readonly fromKnex: (trx: Knex.Transaction) => Tx
  readonly fromPrisma: (tx: PrismaClient.Client) => Tx
  readonly fromQuery: (query: (text: string, values: Array<unknown>) => Promise<Array<object>>) => Tx
}

type DrizzleTransaction =
  | Parameters<Parameters<ReturnType<typeof drizzlePg>["transaction"]>[0]>[0]
  | Parameters<Parameters<ReturnType<typeof drizzlePostgres>["transaction"]>[0]>[0]

/** A transaction that a program has opened. */
export interface Open<Tx> {
  readonly tx: Tx
  /** Runs a statement of the program, with parameters `$1`, `$2` and so on. */
  readonly query: (text: string, values?: Array<string>) => Promise<ReadonlyArray<object>>
  /** Runs a function in a transaction within this one, if the driver has these. */
  readonly nested?: (body: Body<Tx, void>) => Promise<void>
}

type Body<Tx, A> = (open: Open<Tx>) => Promise<A>

/** A program with up to 10 connections. */
export interface Program<Tx> {
  /**
   * The part that fails after the session of a transaction has ended. In postgres.js 3.4, a further statement, even its own
   * `ROLLBACK`, throws an exception that nothing can catch, and transactions on reserved connections do not notice.
   */
  readonly lossFails: "statement" | "transaction" | "nothing"
  /** Runs a function in a transaction, which is committed if it returns, and rolled back if it throws. */
  readonly transaction: <A>(body: Body<Tx, A>) => Promise<A>
  readonly close: () => Promise<unknown>
}

/** Opens a program on a pool of `pg`. */
export const overPool = <Tx>(url: string, adapt: (client: PoolClient) => Tx): Program<Tx> => {
  const pool = PgPool.make(url, 10)
  return {
    lossFails: "statement",
    transaction: async (body) => {
      const client = await pool.connect()
      const query = async (text: string, values?: Array<string>) => (await client.query<object>(text, values)).rows
      return between(query, () => body({ tx: adapt(client), query })).finally(() => client.release())
    },
    close: () => pool.end()
  }
}

/** Opens a program on postgres.js. */
export const overPostgres = <Tx>(sql: postgres.Sql, adapt: Adapters<Tx>["fromPostgres"]): Program<Tx> => {
  const openOf = (tx: postgres.TransactionSql): Open<Tx> => ({
    tx: adapt(tx),
    query: (text, values) => tx.unsafe<Array<object>>(text, values),
    nested: async (body) => {
      await tx.savepoint((inner) => body(openOf(inner)))
    }
  })
  return {
    lossFails: "transaction",
    transaction: async <A>(body: Body<Tx, A>) => await sql.begin((tx) => body(openOf(tx))) as A,
    close: () => sql.end({ timeout: 1 })
  }
}

/** Opens a program on Drizzle over `pg`. */
export const overDrizzlePg = <Tx>(url: string, adapt: Adapters<Tx>["fromDrizzle"]): Program<Tx> => {
  const pool = PgPool.make(url, 10)
  const db = drizzlePg(pool)
  type Transaction = Parameters<Parameters<typeof db.transaction>[0]>[0]
  const openOf = (tx: Transaction): Open<Tx> => ({
    tx: adapt(tx),
    query: async (text, values) => (await tx.execute(drizzleStatement(text, values))).rows,
    nested: (body) => tx.transaction((inner) => body(openOf(inner)))
  })
  return {
    lossFails: "statement",
    transaction: (body) => db.transaction((tx) => body(openOf(tx))),
    close: () => pool.end()
  }
}

/** Opens a program on Drizzle over postgres.js. */
export const overDrizzlePostgres = <Tx>(url: string, adapt: Adapters<Tx>["fromDrizzle"]): Program<Tx> => {
  const sql = postgres(url, { max: 10 })
  const db = drizzlePostgres(sql)
  type Transaction = Parameters<Parameters<typeof db.transaction>[0]>[0]
  const openOf = (tx: Transaction): Open<Tx> => ({
    tx: adapt(tx),
    query: (text, values) => tx.execute(drizzleStatement(text, values)),
    nested: (body) => tx.transaction((inner) => body(openOf(inner)))
  })
  return {
    lossFails: "transaction",
    transaction: (body) => db.transaction((tx) => body(openOf(tx))),
    close: () => sql.end({ timeout: 1 })
  }
}

/** Opens a program on Kysely, with a plugin that renames columns. */
export const overKysely = <Tx>(url: string, adapt: Adapters<Tx>["fromKysely"]): Program<Tx> => {
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: PgPool.make(url, 10) }),
    plugins: [new CamelCasePlugin()]
  })
  return {
    lossFails: "statement",
    transaction: (body) =>
      db.transaction().execute((trx) =>
        body({
          tx: adapt(trx),
          query: async (text, values) => (await trx.executeQuery<object>(CompiledQuery.raw(text, values))).rows
        })
      ),
    close: () => db.destroy()
  }
}

/** Opens a program on Knex. */
export const overKnex = <Tx>(url: string, adapt: Adapters<Tx>["fromKnex"]): Program<Tx> => {
  const knex = createKnex({
    client: "pg",
    connection: url,
    pool: { min: 0, max: 10 },
    // Converts names, as plugins of Knex do.
    postProcessResponse: (response: { rows?: Array<object> }) => ({
      ...response,
      rows: response.rows?.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name.replaceAll("_", ""), value]))
      )
    })
  })
  const openOf = (trx: Knex.Transaction): Open<Tx> => ({
    tx: adapt(trx),
    query: async (text, values = []) => (await trx.raw(text.replaceAll(/\$\d+/g, "?"), values)).rows,
    nested: (body) => trx.transaction((inner) => body(openOf(inner)))
  })
  return {
    lossFails: "statement",
    transaction: (body) => knex.transaction((trx) => body(openOf(trx))),
    close: () => knex.destroy()
  }
}

/** Opens a program on Prisma. */
export const overPrisma = <Tx>(url: string, adapt: Adapters<Tx>["fromPrisma"]): Program<Tx> => {
  const prisma = PrismaClient.make(url)
  const openOf = (tx: PrismaClient.Client): Open<Tx> => ({
    tx: adapt(tx),
    query: async (text, values = []) => await tx.$queryRawUnsafe(text, ...values) as Array<object>,
    nested: (body) => tx.$transaction((inner) => body(openOf(inner)))
  })
  return {
    lossFails: "statement",
    transaction: (body) => prisma.$transaction((tx) => body(openOf(tx)), { timeout: 60_000, maxWait: 60_000 }),
    close: () => prisma.$disconnect()
  }
}

/** Opens a program that begins transactions on reserved connections of postgres.js. */
export const overReserved = <Tx>(url: string, adapt: Adapters<Tx>["fromPostgres"]): Program<Tx> => {
  const sql = postgres(url, { max: 10 })
  return {
    lossFails: "nothing",
    transaction: async (body) => {
      const reserved = await sql.reserve()
      const query = (text: string, values?: Array<string>) => reserved.unsafe<Array<object>>(text, values)
      return between(query, () => body({ tx: adapt(reserved), query })).finally(() => reserved.release())
    },
    close: () => sql.end({ timeout: 1 })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Begins and ends a transaction by statements. */
const between = async <A>(query: (text: string) => Promise<unknown>, body: () => Promise<A>): Promise<A> => {
  await query("BEGIN")
  try {
    const result = await body()
    await query("COMMIT")
    return result
  } catch (error) {
    await query("ROLLBACK").catch(() => {})
    throw error
  }
}

/** A statement of Drizzle, from a text with parameters. */
const drizzleStatement = (text: string, values: Array<string> = []) =>
  drizzleSql.join(
    text.split(/\$\d+/).flatMap((part, index) =>
      index === 0 ? [drizzleSql.raw(part)] : [drizzleSql`${values[index - 1]}`, drizzleSql.raw(part)]
    )
  )
