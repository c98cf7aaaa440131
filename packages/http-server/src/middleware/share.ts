/** A resource that accounts share, so that no account takes all of it. */
import { type Duration, Effect } from "effect"

/** A bounded amount. Each owner can take at most a part of it. Takes that do not fit wait for a short time. */
export class Share {
  readonly #max: number
  readonly #parts: number
  readonly #waitMax: Duration.Duration
  readonly #byOwner = new Map<string, number>()
  readonly #waiters = new Set<Waiter>()
  #total = 0

  /** `parts`: the number of owners that can take the whole together. `waitMax`: how long a take can wait. */
  constructor(max: number, parts: number, waitMax: Duration.Duration) {
    this.#max = max
    this.#parts = parts
    this.#waitMax = waitMax
  }

  /** A part of the owner, empty at first. */
  holding(owner: string): Holding {
    let held = 0
    const take = (amount: number): boolean => {
      const isTaken = this.#take(owner, amount)
      if (isTaken) held += amount
      return isTaken
    }
    return {
      take: (amount) => this.#takeOrWait(owner, amount, () => take(amount)),
      giveBack: () => {
        this.#change(owner, -held)
        held = 0
        for (const waiter of this.#waiters) waiter.retry()
      }
    }
  }

  #takeOrWait(owner: string, amount: number, take: () => boolean): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const own = Array.from(this.#waiters).filter((waiter) => waiter.owner === owner).length
      // A take does not overtake those of its owner.
      if (own === 0 && take()) return Effect.succeed(true)
      const isFull = this.#waiters.size >= waitersMax || own >= waitersMax / this.#parts
      return isFull || amount > this.#max ? Effect.succeed(false) : this.#wait(owner, take)
    })
  }

  /** Waits until the amount is taken. What an interrupted take has taken belongs to the holding. */
  #wait(owner: string, take: () => boolean): Effect.Effect<boolean> {
    return Effect.callback<boolean>((done) => {
      const waiter: Waiter = {
        owner,
        retry: () => {
          if (!take()) return
          this.#waiters.delete(waiter)
          done(Effect.succeed(true))
        }
      }
      this.#waiters.add(waiter)
      return Effect.sync(() => this.#waiters.delete(waiter))
    }).pipe(Effect.timeoutOrElse({ duration: this.#waitMax, orElse: () => Effect.succeed(false) }))
  }

  /** Takes the amount, or nothing and returns `false`. The first amount of an owner can exceed its part. */
  #take(owner: string, amount: number): boolean {
    const own = this.#byOwner.get(owner) ?? 0
    if (this.#total + amount > this.#max) return false
    if (own > 0 && own + amount > this.#max / this.#parts) return false
    this.#change(owner, amount)
    return true
  }

  #change(owner: string, amount: number) {
    this.#total += amount
    const own = (this.#byOwner.get(owner) ?? 0) + amount
    if (own === 0) this.#byOwner.delete(owner)
    else this.#byOwner.set(owner, own)
  }
}

/** The part of a share that one request holds. */
export interface Holding {
  /**
   * Takes more. If it does not fit, waits in a queue, in which requests of an owner that
   * has its part do not delay others. Returns `false` if it did not fit in time, if the
   * queue is full, or if it can never fit.
   */
  readonly take: (amount: number) => Effect.Effect<boolean>
  /** Gives everything back. */
  readonly giveBack: () => void
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The maximum number of takes that wait. An owner has its part of them. */
const waitersMax = 128

interface Waiter {
  readonly owner: string
  readonly retry: () => void
}
