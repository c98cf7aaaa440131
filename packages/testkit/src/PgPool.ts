/** Pools of `pg` for tests. */
import { Pool } from "pg"

/**
 * Opens a pool of 16 connections, or of `max`, that ignores the loss of a connection that is idle. Tests terminate
 * sessions, and `end` returns before the sockets of the pool are closed: if the database is dropped then, the server ends
 * their sessions with an error, which a plain pool emits. A statement on a lost connection still fails.
 */
export const make = (connectionString: string, max = 16): Pool =>
  new Pool({ connectionString, max }).on("error", ignore).on("connect", (client) => client.on("error", ignore))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const ignore = () => {}
