/** Programs that use Postgres through drivers of their own, for the adapters of `@kinora/persistence/external`. */
import { Effect } from "effect"
import postgres from "postgres"
import * as Programs from "./internal/callerPrograms.ts"
import * as PgPool from "./PgPool.ts"
import * as TestDatabase from "./TestDatabase.ts"

export type { Adapters, Open, Program } from "./internal/callerPrograms.ts"

/** Opens a program on the database of a URL. */
type Driver<Tx> = (url: string) => Programs.Program<Tx>

/** A request of `runRequests`. */
export interface Request {
  readonly id: string
  /** 0 to 9, like the number of the requests that run at the same time. */
  readonly account: string
}

/**
 * Runs requests of a program, 10 at a time. Each inserts a row into `request (id, account)` in a transaction, and calls.
 * A quarter is rolled back after its call.
 */
export const runRequests = async <Tx>(
  { transaction }: Programs.Program<Tx>,
  count: number,
  call: (tx: Tx, request: Request) => Promise<unknown>
): Promise<void> => {
  const rolledBack = new Error("rolled back")
  const queue = Array.from({ length: count }, (_, n) => n)
  const work = async () => {
    for (let n = queue.pop(); n !== undefined; n = queue.pop()) {
      const request = { id: `${n}`, account: `${n % 10}` }
      await transaction(async ({ query, tx }) => {
        await query("INSERT INTO request VALUES ($1, $2)", [request.id, request.account])
        await call(tx, request)
        if (Math.floor(Number(request.id) / 10) % 4 === 0) throw rolledBack
      }).catch((error: unknown) => {
        if (error !== rolledBack) throw error
      })
    }
  }
  await Promise.all(Array.from({ length: 10 }, work))
}

/** Opens a program on an empty database, and a pool of `pg` on the same one, which has the table of `runRequests`. */
export const open = Effect.fnUntraced(function*<Tx>(driver: Driver<Tx>) {
  const url = yield* TestDatabase.postgresUrl
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() => PgPool.make(url, 10)),
    (pool) => Effect.promise(() => pool.end())
  )
  yield* Effect.promise(() => pool.query("CREATE TABLE request (id text PRIMARY KEY, account text NOT NULL)"))
  const program = yield* Effect.acquireRelease(
    Effect.sync(() => driver(url)),
    ({ close }) => Effect.promise(close)
  )
  return { pool, program, url }
})

/** Returns the drivers with their names. */
export const all = <Tx>(
  adapters: Programs.Adapters<Tx>
): ReadonlyArray<readonly [name: string, driver: Driver<Tx>]> => [
  ["pg", (url) => Programs.overPool(url, adapters.fromPg)],
  ["postgres.js", (url) => Programs.overPostgres(postgres(url, { max: 10 }), adapters.fromPostgres)],
  ["Drizzle over pg", (url) => Programs.overDrizzlePg(url, adapters.fromDrizzle)],
  ["Drizzle over postgres.js", (url) => Programs.overDrizzlePostgres(url, adapters.fromDrizzle)],
  ["Kysely", (url) => Programs.overKysely(url, adapters.fromKysely)],
  ["Knex", (url) => Programs.overKnex(url, adapters.fromKnex)],
  ["Prisma", (url) => Programs.overPrisma(url, adapters.fromPrisma)],
  [
    "a query function",
    (url) =>
      Programs.overPool(
        url,
        (client) => adapters.fromQuery(async (text, values) => (await client.query(text, values)).rows)
      )
  ]
]

/** Returns drivers of `all` in other configurations. */
export const variants = <Tx>(
  adapters: Programs.Adapters<Tx>
): ReadonlyArray<readonly [name: string, driver: Driver<Tx>]> => [
  [
    "postgres.js with other names and types",
    (url) =>
      Programs.overPostgres(
        postgres(url, { max: 10, fetch_types: false, transform: postgres.camel, types: { bigint: postgres.BigInt } }),
        adapters.fromPostgres
      )
  ],
  ["postgres.js with reserved connections", (url) => Programs.overReserved(url, adapters.fromPostgres)]
]

/** Makes a client of Prisma over a database. */
export { make as prismaClient } from "./internal/prismaClient.ts"
