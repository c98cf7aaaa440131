/** One request and its answer, which end when the caller gives up or when nothing comes for too long. */
import type { Ambient } from "./Ambient.ts"

/** An exchange under way. */
export interface Exchange {
  /** Ends the connection when the exchange ends. */
  readonly signal: AbortSignal
  /** Waits for a part of the exchange. Rejects with the caller's reason, or with `Silence` after that many milliseconds. */
  readonly step: <A>(work: Promise<A>, limitMillis: number) => Promise<A>
  /** Ends the exchange and lets go of the caller's signal. Again does nothing. */
  readonly close: () => void
}

/** Begins an exchange. */
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

/** The work's outcome, unless the signal comes first. */
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

/** Nothing came for too long. */
class Silence extends Error {}
