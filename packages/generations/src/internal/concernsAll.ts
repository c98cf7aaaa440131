/** Failures in the middle of a set. */
import { StorageError } from "@kinora/persistence/StorageError"
import { Cause } from "effect"

/** Returns `true` if the other members of a set would fail too: the database is unavailable, or the process shuts down. */
export const concernsAll = <E>(cause: Cause.Cause<E>): cause is Cause.Cause<Extract<E, StorageError>> =>
  Cause.hasInterruptsOnly(cause) ||
  cause.reasons.some((reason) => Cause.isFailReason(reason) && isUnavailable(reason.error))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isUnavailable = (error: unknown) => error instanceof StorageError && error.isRetryable
