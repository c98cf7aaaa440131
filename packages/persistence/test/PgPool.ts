/** A pool of `pg` over an empty database. */
import { PgPool, TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"

/** A pool over the database of a URL. */
export const over = (connectionString: string) =>
  Effect.acquireRelease(
    Effect.sync(() => PgPool.make(connectionString)),
    (pool) => Effect.promise(() => pool.end())
  )

export const pool = Effect.flatMap(TestDatabase.postgresUrl, over)
