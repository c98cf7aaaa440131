import {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromPg,
  fromPostgres,
  fromPrisma,
  fromQuery
} from "@kinora/persistence/external"
import type { PrismaTransaction, Transaction } from "@kinora/persistence/external"
import { sql } from "drizzle-orm"
import type { NodePgDatabase } from "drizzle-orm/node-postgres"
import type { Knex } from "knex"
import { CompiledQuery, type Kysely } from "kysely"
import type { Pool } from "pg"
import type { Sql } from "postgres"

/** Calls of packages, such as `(tx) => ledger.charge({ account, reference, credits, tx })`. */
type Calls = (tx: Transaction) => Promise<unknown>

/** Your `PrismaClient`. */
interface Prisma {
  $transaction(body: (tx: PrismaTransaction) => Promise<unknown>): Promise<unknown>
}

const insert = "INSERT INTO request VALUES ('job-1', 'ada')"

/** `sql.begin`, and transactions on connections of `sql.reserve`. */
export const onPostgresJs = (sql: Sql, calls: Calls) =>
  sql.begin(async (sql) => {
    await sql`INSERT INTO request VALUES ('job-1', 'ada')`
    await calls(fromPostgres(sql))
  })

/** Any database of `drizzle-orm/…` for Postgres that has transactions. */
export const onDrizzle = (db: NodePgDatabase, calls: Calls) =>
  db.transaction(async (tx) => {
    await tx.execute(sql`INSERT INTO request VALUES ('job-1', 'ada')`)
    await calls(fromDrizzle(tx))
  })

/** A callback, or a controlled transaction of `startTransaction`. */
export const onKysely = (db: Kysely<unknown>, calls: Calls) =>
  db.transaction().execute(async (trx) => {
    await trx.executeQuery(CompiledQuery.raw(insert))
    await calls(fromKysely(trx))
  })

/** The client `pg` of Knex. */
export const onKnex = (knex: Knex, calls: Calls) =>
  knex.transaction(async (trx) => {
    await trx.raw(insert)
    await calls(fromKnex(trx))
  })

/** An interactive transaction of Prisma 7. */
export const onPrisma = (prisma: Prisma, calls: Calls) =>
  prisma.$transaction(async (tx) => {
    await tx.$executeRawUnsafe(insert)
    await calls(fromPrisma(tx))
  })

/** A client of `pg`, or of a driver with the same `query`. */
export const onPg = async (pool: Pool, calls: Calls) => {
  const client = await pool.connect()
  try {
    await client.query("BEGIN")
    await client.query(insert)
    await calls(fromPg(client))
    await client.query("COMMIT")
  } catch (error) {
    await client.query("ROLLBACK")
    throw error
  } finally {
    client.release()
  }
}

/** Any other driver. */
export const onQueries = async (
  query: (text: string, values?: Array<unknown>) => Promise<Array<object>>,
  calls: Calls
) => {
  await query("BEGIN")
  try {
    await query(insert)
    await calls(fromQuery(query))
    await query("COMMIT")
  } catch (error) {
    await query("ROLLBACK")
    throw error
  }
}
