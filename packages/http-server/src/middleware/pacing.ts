/** Paces the bytes that accounts move, so that one with many transfers does not delay the requests of others. */
import { Effect } from "effect"

/** Bytes of an owner per turn of the event loop. A larger chunk takes several turns. */
export const bytesPerTurn = 32 * 1024

/**
 * Limits the bytes that an owner moves per turn of the event loop to `bytesPerTurn`. Without a limit, a turn takes as long
 * as all chunks of the owner that are ready, and each step of another request waits for it. A turn without other work is
 * much shorter than the time in which a chunk is moved.
 */
export class Pacing {
  readonly #turns = new Map<string, Turn>()

  /** Counts bytes that an owner is about to move. Returns an effect that waits for a later turn if they do not fit into this one. */
  take(owner: string, bytes: number): Effect.Effect<void> | undefined {
    const turn = this.#turnOf(owner)
    if (turn.waiters.size > 0 || !fits(turn, bytes)) return this.#wait(owner, bytes)
    turn.bytes += bytes
    return undefined
  }

  #wait(owner: string, bytes: number): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const { waiters } = this.#turnOf(owner)
      const waiter: Waiter = { bytes, resume: () => resume(Effect.void) }
      waiters.add(waiter)
      return Effect.sync(() => waiters.delete(waiter))
    })
  }

  #turnOf(owner: string): Turn {
    const current = this.#turns.get(owner)
    if (current !== undefined) return current
    const turn: Turn = { bytes: 0, waiters: new Set() }
    this.#turns.set(owner, turn)
    setImmediate(() => this.#next(owner, turn))
    return turn
  }

  /** Begins the next turn of an owner. Forgets the owner if nothing counts for it. */
  #next(owner: string, turn: Turn): void {
    turn.bytes = Math.max(0, turn.bytes - bytesPerTurn)
    const starting: Array<Waiter> = []
    for (const waiter of turn.waiters) {
      if (!fits(turn, waiter.bytes)) break
      turn.bytes += waiter.bytes
      turn.waiters.delete(waiter)
      starting.push(waiter)
    }
    if (turn.bytes === 0) this.#turns.delete(owner)
    else setImmediate(() => this.#next(owner, turn))
    for (const { resume } of starting) resume()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A turn of the event loop. */
interface Turn {
  /** Bytes that count for this turn and the next ones. */
  bytes: number
  /** The chunks that did not fit, in order. */
  readonly waiters: Set<Waiter>
}

interface Waiter {
  readonly bytes: number
  readonly resume: () => void
}

const fits = ({ bytes }: Turn, more: number): boolean => bytes === 0 || bytes + more <= bytesPerTurn
