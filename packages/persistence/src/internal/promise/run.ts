/** Runs effects for programs without Effect. */
import { Cause, Effect, Exit } from "effect"

/**
 * Runs an effect. Rejects with what `errorOf` returns for a failure, with the value of a defect, and with the reason of the
 * signal if the signal aborted before the effect succeeded.
 */
export const runPromise = async <A, E>(
  effect: Effect.Effect<A, E>,
  signal: AbortSignal | undefined,
  errorOf: (failure: E) => unknown
): Promise<A> => {
  signal?.throwIfAborted()
  const exit = await Effect.runPromiseExit(effect, signal && { signal })
  if (Exit.isSuccess(exit)) return exit.value
  signal?.throwIfAborted()
  const failure = exit.cause.reasons.find(Cause.isFailReason)
  throw failure === undefined ? Cause.squash(exit.cause) : errorOf(failure.error)
}
