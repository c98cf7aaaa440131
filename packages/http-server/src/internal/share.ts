/** What all accounts have to share, so that no crowd of large requests takes this process, and no account keeps the others out. */

/** A bounded amount, of which one owner has at most a part. */
export class Share {
  readonly #max: number
  readonly #ownMax: number
  readonly #byOwner = new Map<string, number>()
  #total = 0

  /** `parts`: how many owners it takes to have all of it. */
  constructor(max: number, parts: number) {
    this.#max = max
    this.#ownMax = max / parts
  }

  /** Takes so much, or nothing and answers `false`. The first of an owner may be more than its part. */
  take(owner: string, amount: number): boolean {
    const own = this.#byOwner.get(owner) ?? 0
    if (this.#total + amount > this.#max) return false
    if (own > 0 && own + amount > this.#ownMax) return false
    this.#change(owner, amount)
    return true
  }

  /** Gives back some of what was taken. */
  giveBack(owner: string, amount: number): void {
    this.#change(owner, -amount)
  }

  #change(owner: string, amount: number) {
    this.#total += amount
    const own = (this.#byOwner.get(owner) ?? 0) + amount
    if (own === 0) this.#byOwner.delete(owner)
    else this.#byOwner.set(owner, own)
  }
}
