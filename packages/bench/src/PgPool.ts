/** Pools of `pg`, for peers. */
import { Pool } from "pg"

/**
 * A pool of 16 connections. `end` returns before its connections are closed, and the
 * database is dropped then, so errors of idle connections are ignored. A connection lost
 * during a round fails a call of that round.
 */
export const make = (url: string | undefined): Pool =>
  new Pool({ connectionString: url, max: 16 }).on("error", () => {})
