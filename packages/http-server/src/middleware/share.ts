/** A resource that accounts share, so that no account takes all of it. */

/** A bounded amount. Each owner can take at most a part of it. */
export class Share {
  readonly #max: number
  readonly #ownMax: number
  readonly #byOwner = new Map<string, number>()
  #total = 0

  /** `parts`: the number of owners that can take the whole together. */
  constructor(max: number, parts: number) {
    this.#max = max
    this.#ownMax = max / parts
  }

  /** Takes the amount, or nothing and returns `false`. The first amount of an owner can exceed its part. */
  take(owner: string, amount: number): boolean {
    const own = this.#byOwner.get(owner) ?? 0
    if (this.#total + amount > this.#max) return false
    if (own > 0 && own + amount > this.#ownMax) return false
    this.#change(owner, amount)
    return true
  }

  /** Gives back some of what the owner took. */
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
