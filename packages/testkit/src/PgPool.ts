/** Pools of `pg` for tests. */
import { Pool, type PoolClient } from "pg"

/**
 * Opens a pool of 16 connections, or of `max`, that ignores the loss of a connection that is idle. Tests terminate
 * sessions, and `end` returns before the sockets of the pool are closed: if the database is dropped then, the server ends
 * their sessions with an error, which a plain pool emits. A statement on a lost connection still fails.
 */
export const make = (connectionString: string, max = 16): Pool =>
  new Pool({ connectionString, max }).on("error", ignore).on("connect", (client) => client.on("error", ignore))

/** Runs a transaction on a connection of the pool. Rolls back if it rejects, or if `commits` returns `false` for its result. */
export const inTransaction = async <A>(
  pool: Pool,
  body: (client: PoolClient) => Promise<A>,
  commits: (result: A) => boolean = () => true
): Promise<A> => {
  const client = await pool.connect()
  try {
    await client.query("BEGIN")
    const result = await body(client)
    await client.query(commits(result) ? "COMMIT" : "ROLLBACK")
    return result
  } catch (error) {
    await client.query("ROLLBACK")
    throw error
  } finally {
    client.release()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const ignore = () => {}
