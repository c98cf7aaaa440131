/** The examples of drivers in the README. */
import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import * as CallerTransactions from "@kinora/testkit/CallerTransactions"
import { drizzle } from "drizzle-orm/node-postgres"
import { Effect, Layer } from "effect"
import createKnex from "knex"
import { Kysely, PostgresDialect } from "kysely"
import postgres from "postgres"
import * as drivers from "../example/drivers.ts"
import { join, layerPg, type Transaction } from "../src/external.ts"
import { layerSql } from "../src/UnitOfWork.ts"
import * as Cells from "./Cells.ts"
import * as PgPool from "./PgPool.ts"

type Calls = (tx: Transaction) => Promise<unknown>

it.effect("the examples of drivers commit and undo calls with their transactions", () =>
  Effect.gen(function*() {
    const url = yield* TestDatabase.postgresUrl
    const pool = yield* PgPool.over(url)
    const open = <A>(value: A, close: (value: A) => Promise<unknown>) =>
      Effect.acquireRelease(Effect.succeed(value), (value) => Effect.promise(() => close(value)))
    const sql = yield* open(postgres(url), (sql) => sql.end())
    const knex = yield* open(createKnex({ client: "pg", connection: url }), (knex) => knex.destroy())
    const prisma = yield* open(CallerTransactions.prismaClient(url), (prisma) => prisma.$disconnect())
    const single = yield* Effect.acquireRelease(
      Effect.promise(() => pool.connect()),
      (client) => Effect.sync(() => client.release())
    )
    const examples: Readonly<Record<string, (calls: Calls) => Promise<unknown>>> = {
      postgres: (calls) => drivers.onPostgresJs(sql, calls),
      drizzle: (calls) => drivers.onDrizzle(drizzle(pool), calls),
      kysely: (calls) => drivers.onKysely(new Kysely({ dialect: new PostgresDialect({ pool }) }), calls),
      knex: (calls) => drivers.onKnex(knex, calls),
      prisma: (calls) => drivers.onPrisma(prisma, calls),
      pg: (calls) => drivers.onPg(pool, calls),
      queries: (calls) =>
        drivers.onQueries(async (text, values) => (await single.query<object>(text, values)).rows, calls)
    }
    const layer = Cells.layerSql.pipe(Layer.provideMerge(layerSql), Layer.provide(layerPg(pool)))
    const services = yield* Layer.build(layer)
    yield* Effect.promise(() => pool.query("CREATE TABLE request (id text PRIMARY KEY, account text NOT NULL)"))
    const put = (key: string): Calls => (tx) =>
      Cells.Cells.use(({ put }) => put(key, 1)).pipe(join(tx), Effect.provideContext(services), Effect.runPromise)
    const rowsOf = (text: string) => Effect.promise(async () => (await pool.query<object>(text)).rows)

    for (const [name, run] of Object.entries(examples)) {
      const undone = run(async (tx) => {
        await put(`${name} undone`)(tx)
        throw new Error("undone")
      }).catch((error: unknown) => error)
      assert.match(String(yield* Effect.promise(() => undone)), /undone/)
      yield* Effect.promise(() => run(put(name)))
      assert.deepStrictEqual(yield* rowsOf("DELETE FROM request RETURNING id"), [{ id: "job-1" }])
      assert.deepStrictEqual(yield* rowsOf("DELETE FROM cells RETURNING key"), [{ key: name }])
    }
  }))
