/**
 * pgledger, a double-entry ledger in SQL functions. A charge is one statement and one commit, so charges need no transaction of
 * a client. It has no lots that expire, no references that make a charge happen once, and no quotas.
 */
import * as PgPool from "@kinora/testkit/PgPool"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { attempt, type Environment } from "./Benchmark.ts"
import { root } from "./Checkout.ts"
import * as PostgresServer from "./PostgresServer.ts"

/** Creates accounts with credits. Each spends them to an account of its own, so that charges of two accounts never wait for each other. */
export const make = Effect.fnUntraced(function*({ database }: Environment, count: number) {
  const url = yield* database
  yield* attempt("pgledger could not be installed", async () => {
    const sources = await Promise.all(files.map((file) => readFile(join(directory, file), "utf8")))
    await PostgresServer.run(url, ...sources)
  })
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() => PgPool.make(url)),
    (pool) => Effect.promise(() => pool.end())
  )
  const transfer = (from: string, to: string, credits: number) =>
    pool.query({
      name: "transfer",
      text: "SELECT id FROM pgledger_create_transfer($1, $2, $3)",
      values: [from, to, credits]
    })
  const accounts = yield* attempt("The accounts of pgledger could not be created", async () => {
    const create = async (name: string, canOwe: boolean): Promise<string> => {
      const { rows: [row] } = await pool.query<{ id: string }>(
        "SELECT id FROM pgledger_create_account($1, 'CREDIT', allow_negative_balance => $2)",
        [name, canOwe]
      )
      return row!.id
    }
    const bank = await create("bank", true)
    return Promise.all(Array.from({ length: count }, async (_, n) => {
      const [account, spent] = [await create(`account ${n}`, false), await create(`spent by ${n}`, true)]
      await transfer(bank, account, credits)
      return { account, spent }
    }))
  })
  return {
    name: "pgledger",
    database: url,
    /** Charges an account. Rejects if it lacks the credits. */
    charge: (n: number, credits: number): Promise<unknown> => {
      const { account, spent } = accounts[n % count]!
      return transfer(account, spent, credits)
    }
  }
})

/** The credits of each account. */
export const credits = 1_000_000_000_000

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** pgledger is not on npm. The example compares it with the ledger of Kinora. */
const directory = join(root, "examples/comparison/pgledger")

const files = ["ulid-to-uuid.sql", "uuid-to-ulid.sql", "pgledger.sql"]
