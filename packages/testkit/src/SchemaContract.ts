/** A suite for services with promises whose tables can be in a schema. */
import type { Pool, PoolClient } from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as PgPool from "./PgPool.ts"
import * as PgProgram from "./PgProgram.ts"

/** A service, and what a test does with it. */
export interface Subject<Service extends AsyncDisposable> {
  readonly create: (options: { readonly pool: Pool; readonly schema: string }) => Promise<Service>
  /** Writes and reads with the most important calls. Returns something that would differ if they were made before. */
  readonly use: (service: Service, tx?: PoolClient) => Promise<unknown>
}

/** Runs the suite on an empty database, in which the `search_path` of the connections contains no schema that exists. */
export const suite = <Service extends AsyncDisposable>(name: string, { create, use }: Subject<Service>): void => {
  describe(`${name} in a schema`, () => {
    let database: Database
    let pool: Pool
    beforeAll(async () => {
      database = await open()
      pool = database.pool
    })
    afterAll(() => database.close())

    it("uses its schema only, in transactions of the program as well, whatever their search path is", async () => {
      const schemas = ["billing", "Billing"]
      const before = await outsideOf(pool, schemas)
      await using service = await create({ pool, schema: "billing" })
      const alone = await use(service)
      await inTransaction(pool, async (tx) => {
        await tx.query("SET LOCAL search_path TO pg_catalog")
        const joined = await use(service, tx)
        assert.deepStrictEqual(await outsideOf(pool, schemas), before)

        // The other schema has the same names, none of the rows, and none of the locks that the transaction holds.
        await using other = await create({ pool, schema: "Billing" })
        assert.deepStrictEqual(await use(other), alone)
        await inTransaction(pool, async (tx) => {
          await tx.query("SET LOCAL lock_timeout TO '5s'")
          assert.deepStrictEqual(await use(other, tx), joined)
        })
      })
      assert.deepStrictEqual(await outsideOf(pool, schemas), before)
      assert.deepStrictEqual(await tablesOf(pool, "Billing"), await tablesOf(pool, "billing"))
    })

    it("creates its schema once if several processes start at the same time", async () => {
      const services = await Promise.all(Array.from({ length: 4 }, () => create({ pool, schema: "several" })))
      await use(services[3]!)
      await Promise.all(services.map((service) => service[Symbol.asyncDispose]()))
    })

    it("needs no right to create anything in a schema that is up to date", async () => {
      await (await create({ pool, schema: "limited" }))[Symbol.asyncDispose]()
      await using limited = await database.asLimitedRole("limited")
      await using service = await create({ pool: limited.pool, schema: "limited" })
      await use(service)
    })

    it("rejects an invalid name of a schema", async () => {
      const error = await create({ pool, schema: "billing\"; DROP" }).catch((error: unknown) => error)
      assert.instanceOf(error, TypeError)
      assert.include(error.message, "Expected the name of a schema")
    })
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Database = Awaited<ReturnType<typeof open>>

const inTransaction = async (pool: Pool, body: (tx: PoolClient) => Promise<void>): Promise<void> => {
  const tx = await pool.connect()
  try {
    await tx.query("BEGIN")
    await body(tx)
    await tx.query("COMMIT")
  } finally {
    // A transaction that is open ends with its session.
    tx.release(true)
  }
}

const open = async () => {
  const program = await PgProgram.open()
  const url = new URL(program.url)
  url.searchParams.set("options", "-c search_path=nowhere")
  const pool = PgPool.make(url.href)
  return {
    pool,
    /** Opens a pool whose role may use the rows of a schema, and nothing else. */
    asLimitedRole: async (schema: string) => {
      const role = `limited_${url.pathname.slice(1)}`
      await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'limited'`)
      await pool.query(`GRANT USAGE ON SCHEMA "${schema}" TO ${role}`)
      await pool.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO ${role}`)
      await pool.query(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA "${schema}" TO ${role}`)
      const limited = new URL(url)
      limited.username = role
      limited.password = "limited"
      const limitedPool = PgPool.make(limited.href)
      return {
        pool: limitedPool,
        [Symbol.asyncDispose]: async () => {
          await limitedPool.end()
          await pool.query(`DROP OWNED BY ${role}`)
          await pool.query(`DROP ROLE ${role}`)
        }
      }
    },
    close: async () => {
      await pool.end()
      await program.close()
    }
  }
}

/** Lists the relations, functions, types and schemas of a database, other than those of Postgres and of these schemas. */
const outsideOf = async (pool: Pool, schemas: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const { rows } = await pool.query<{ object: string }>(
    `
      WITH schema AS (
        SELECT oid, nspname FROM pg_namespace
        WHERE nspname <> ALL($1) AND nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'
      )
      SELECT nspname || '.' || relname AS object FROM schema JOIN pg_class ON relnamespace = schema.oid
      UNION ALL SELECT nspname || '.' || proname FROM schema JOIN pg_proc ON pronamespace = schema.oid
      UNION ALL SELECT nspname || '.' || typname FROM schema JOIN pg_type ON typnamespace = schema.oid
      UNION ALL SELECT nspname FROM schema
      ORDER BY object
    `,
    [schemas]
  )
  return rows.map(({ object }) => object)
}

const tablesOf = async (pool: Pool, schema: string): Promise<ReadonlyArray<string>> => {
  const { rows } = await pool.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = quote_ident($1)::regnamespace AND relkind = 'r' ORDER BY 1",
    [schema]
  )
  return rows.map(({ name }) => name)
}
