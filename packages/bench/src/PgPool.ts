/** Pools of `pg`, for peers. */
import { Effect } from "effect"
import { Pool } from "pg"

/**
 * A pool of 16 connections, or of `max`. `end` returns before its connections are closed,
 * and the database is dropped then, so errors of idle connections are ignored. A connection
 * lost during a round fails a call of that round.
 */
export const make = (url: string | undefined, max = 16): Pool =>
  new Pool({ connectionString: url, max }).on("error", ignore).on("connect", (client) => client.on("error", ignore))

/** A pool for graphile-worker, which does not close a pool that it is given. Default 10 connections, as in graphile-worker. */
export const makeForGraphileWorker = (url: string, max = 10) =>
  Effect.acquireRelease(Effect.sync(() => make(url, max)), (pool) => Effect.promise(() => pool.end()))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const ignore = () => {}
