/**
 * A program without Effect that uses Postgres through a pool of `pg`, for tests of promise APIs: its own transactions,
 * and rows of its own beside those of a package.
 */
import { Effect, Exit, Scope } from "effect"
import type { Pool, PoolClient } from "pg"
import * as PgPool from "./PgPool.ts"
import { postgresUrl } from "./TestDatabase.ts"

/** The program, on an empty database with the table `work (id text PRIMARY KEY)`. */
export interface PgProgram {
  readonly url: string
  readonly pool: Pool
  /** Commits what the body writes, or rolls it back if the body rejects. */
  readonly inTransaction: <A>(body: (tx: PoolClient) => Promise<A>) => Promise<A>
  /**
   * Runs `requestsMax` transactions, ten at once. Each inserts its id into `work`, then calls the body; a quarter rolls
   * back after the body.
   */
  readonly request: (body: (id: string, tx: PoolClient) => Promise<unknown>) => Promise<void>
  readonly close: () => Promise<void>
}

/** Number of transactions of `request`. */
export const requestsMax = 600

/** Number of transactions of `request` that commit. */
export const requestsCommitted = 450

/** Opens the program. */
export const open = async (): Promise<PgProgram> => {
  const scope = Effect.runSync(Scope.make())
  const url = await Effect.runPromise(Scope.provide(postgresUrl, scope))
  const pool = PgPool.make(url, 20)
  await pool.query("CREATE TABLE work (id text PRIMARY KEY)")
  const inTransaction: PgProgram["inTransaction"] = (body) => PgPool.inTransaction(pool, body)
  return {
    url,
    pool,
    inTransaction,
    request: requestsOf(inTransaction),
    close: async () => {
      await pool.end()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

class RolledBack extends Error {
  override readonly name = "RolledBack"
}

const requestsOf = (inTransaction: PgProgram["inTransaction"]): PgProgram["request"] => async (body) => {
  const queue = Array.from({ length: requestsMax }, (_, n) => n)
  const work = async () => {
    for (let n = queue.pop(); n !== undefined; n = queue.pop()) {
      const id = `${n}`
      const request = inTransaction(async (tx) => {
        await tx.query("INSERT INTO work VALUES ($1)", [id])
        await body(id, tx)
        if (n % 4 === 0) throw new RolledBack()
      })
      await request.catch((error: unknown) => {
        if (!(error instanceof RolledBack)) throw error
      })
    }
  }
  await Promise.all(Array.from({ length: 10 }, work))
}
