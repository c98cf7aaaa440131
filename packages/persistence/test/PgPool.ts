/** A pool of `pg` over an empty database. */
import { TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import { Pool } from "pg"

/** A pool over the database of a URL. */
export const over = (connectionString: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const pool = new Pool({ connectionString, max: 16 })
      // Tests terminate sessions, and the database is dropped before the sockets of the pool are closed.
      pool.on("connect", (client) => client.on("error", () => {}))
      pool.on("error", () => {})
      return pool
    }),
    (pool) => Effect.promise(() => pool.end())
  )

export const pool = Effect.flatMap(TestDatabase.postgresUrl, over)
