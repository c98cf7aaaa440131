/** Bytes that this process holds at the same time, so that no crowd of large bodies takes its memory. */

/** A bounded amount of memory, at most half of it for one owner. */
export class HeldBytes {
  readonly #max: number
  readonly #byOwner = new Map<string, number>()
  #total = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Takes so many bytes, or none and answers `false`. The first of an owner may be more than half. */
  take(owner: string, bytes: number): boolean {
    const own = this.#byOwner.get(owner) ?? 0
    if (this.#total + bytes > this.#max) return false
    if (own > 0 && own + bytes > this.#max / 2) return false
    this.#change(owner, bytes)
    return true
  }

  /** Gives back some of what was taken. */
  giveBack(owner: string, bytes: number): void {
    this.#change(owner, -bytes)
  }

  #change(owner: string, bytes: number) {
    this.#total += bytes
    const own = (this.#byOwner.get(owner) ?? 0) + bytes
    if (own === 0) this.#byOwner.delete(owner)
    else this.#byOwner.set(owner, own)
  }
}
