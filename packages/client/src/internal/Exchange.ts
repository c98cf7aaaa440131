/** One request and its response, which end when the caller aborts or when nothing arrives for too long. */
import type { Ambient } from "./Ambient.ts"

/** A running exchange. */
export interface Exchange {
  /** Aborted when the exchange ends. */
  readonly signal: AbortSignal
  /** Waits for a part of the exchange. Rejects with the caller's reason, or with `Silence` after `limitMillis`. */
  readonly step: <A>(work: Promise<A>, limitMillis: number) => Promise<A>
  /** Ends the exchange and removes the listener from the caller's signal. Idempotent. */
  readonly close: () => void
}

/** Starts an exchange. */
export const make = (ambient: Ambient, callerSignal: AbortSignal | undefined): Exchange => {
  const controller = new AbortController()
  const giveUp = () => controller.abort(callerSignal?.reason)
  callerSignal?.addEventListener("abort", giveUp)
  if (callerSignal?.aborted === true) giveUp()

  return {
    signal: controller.signal,
    step: (work, limitMillis) => {
      const cancel = ambient.after(limitMillis, () => controller.abort(new Silence(`Silent for ${limitMillis} ms`)))
      return untilAborted(work, controller.signal).finally(cancel)
    },
    close: () => {
      callerSignal?.removeEventListener("abort", giveUp)
      controller.abort()
    }
  }
}

/** The result of the work, or the signal's reason if it aborts first. */
export const untilAborted = <A>(work: Promise<A>, signal: AbortSignal | undefined): Promise<A> => {
  if (signal === undefined) return work
  return new Promise<A>((resolve, reject) => {
    const leave = () => reject(signal.reason)
    signal.addEventListener("abort", leave)
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave))
    if (signal.aborted) leave()
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Nothing arrived for too long. */
class Silence extends Error {}
