/**
 * Ends bodies of requests and responses that clients send or receive too slowly, since they hold memory and places.
 *
 * Time is counted in seconds of one shared timer, so that a transfer does not end because the process was suspended or
 * busy.
 */
import { Duration, Effect, type Scope } from "effect"
import * as SharedTimer from "./sharedTimer.ts"

/** How slow a transfer can be. */
export interface TransferLimits {
  /** Bytes per second that a client has to send or to receive. */
  readonly rateMin: number
  /** How long a client can fall behind this rate. */
  readonly stallMax: Duration.Duration
  /** The time of the whole transfer. */
  readonly timeMax: Duration.Duration
}

/** A body that a client sends or receives. Changes while bytes move. */
export class Transfer implements SharedTimer.Member {
  readonly #rateMin: number
  readonly #stallMax: number
  readonly #timeMax: number
  /** Seconds that the client can still fall behind. */
  #left: number
  #seconds = 0
  #isPaused = false
  #onTooSlow: (() => void) | undefined

  constructor({ rateMin, stallMax, timeMax }: TransferLimits) {
    this.#rateMin = rateMin
    this.#stallMax = Duration.toSeconds(stallMax)
    this.#timeMax = Duration.toSeconds(timeMax)
    this.#left = this.#stallMax
  }

  /** Counts bytes. */
  count(bytes: number): void {
    this.#left = Math.min(this.#stallMax, this.#left + bytes / this.#rateMin)
  }

  /** Stops the time while the client has nothing to send or to receive. */
  pause(): void {
    this.#isPaused = true
  }

  /** Continues the time. */
  resume(): void {
    this.#isPaused = false
  }

  tick(): void {
    if (this.#isPaused) return
    this.#left--
    this.#seconds++
    if (this.#left < 0 || this.#seconds > this.#timeMax) this.#onTooSlow?.()
  }

  /** Calls `onTooSlow` when the transfer exceeds a limit, at each second from then on. */
  observe(onTooSlow: () => void): void {
    this.#onTooSlow = onTooSlow
  }
}

/** Makes the functions that count the time of transfers. Their timer runs until the scope closes. */
export const make = Effect.map(SharedTimer.make(Duration.seconds(1)), (timer) => {
  /** Counts the time of a transfer until `stop`, and calls `onTooSlow` when it is too slow. */
  const start = (transfer: Transfer, onTooSlow: () => void): void => {
    transfer.observe(onTooSlow)
    timer.add(transfer)
  }
  const stop = (transfer: Transfer): void => {
    timer.delete(transfer)
  }

  return {
    start,
    stop,
    /** Counts the time of a transfer until the scope closes, and calls `onTooSlow` when the transfer is too slow. */
    observe: (transfer: Transfer, onTooSlow: () => void): Effect.Effect<void, never, Scope.Scope> =>
      Effect.acquireRelease(Effect.sync(() => start(transfer, onTooSlow)), () => Effect.sync(() => stop(transfer)))
  }
})

/** See `make`. */
export type Transfers = Effect.Success<typeof make>
