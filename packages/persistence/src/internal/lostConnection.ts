/**
 * Connections that end while they are in use: the server restarts, fails over or ends the session, or the network fails.
 *
 * The server rolls a transaction back when its connection ends before `COMMIT` was written, so the transaction can run
 * again on another connection.
 */
import { type Cause, Duration } from "effect"
import type { SqlError } from "effect/sql"
import { CommitNotSent } from "./committed.ts"
import { sqlErrorsIn, sqlStateOf } from "./sqlErrors.ts"

/**
 * Total time for which a unit of work runs again after lost connections. Longer than a busy process pauses, and shorter than the silence after which a
 * connection ends, so that units do not wait twice for a server that hangs.
 */
export const lostMax = Duration.seconds(4)

/** Returns whether the work failed because its connection was lost. A connection that cannot be opened does not count. */
export const isIn = (cause: Cause.Cause<unknown>): boolean => sqlErrorsIn(cause).some(isLost)

/** Returns whether the connection was lost before `COMMIT` was sent, although the unit had begun to commit. */
export const isUnsentIn = (cause: Cause.Cause<unknown>): boolean =>
  sqlErrorsIn(cause).some(({ reason }) => reason.cause instanceof CommitNotSent)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isLost = (error: SqlError.SqlError): boolean =>
  error.reason.operation !== "connect" && (error.reason._tag === "ConnectionError" || endings.has(sqlStateOf(error)))

/** The server shuts down, or ends its sessions because another one crashed. */
const endings = new Set(["57P01", "57P02"])
