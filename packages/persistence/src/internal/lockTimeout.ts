/**
 * Waits for locks.
 *
 * A host sets a short `lock_timeout` on its sessions, because a transaction that waits for a lock keeps its own locks
 * and its connection. A transaction that reaches it is rolled back and runs again, so that it holds nothing in between.
 */
import { type Cause, Context, Duration } from "effect"
import { sqlErrorsIn } from "./sqlErrors.ts"

/** Total time for which work is tried again that finds a lock taken. Shorter than clients wait for a response. */
export const lockWaitMax = Duration.seconds(2)

/** Whether units of work leave it to their caller to run them again after a lock timeout. Folded sets do. */
export const CallerReruns = Context.Reference<boolean>("@kinora/persistence/internal/lockTimeout/CallerReruns", {
  defaultValue: () => false
})

/**
 * Returns whether the work failed because a lock was taken for longer than `lock_timeout` (SQLSTATE 55P03). Errors of a
 * package count if their `cause` is that error.
 */
export const isIn = (cause: Cause.Cause<unknown>): boolean =>
  sqlErrorsIn(cause).some(({ reason }) => reason._tag === "LockTimeoutError")
