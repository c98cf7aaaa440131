/** Pseudo-random numbers that are the same for the same key on every machine. */

const tau = Math.PI * 2

/** Hashes a text to four 32-bit words (cyrb128). Not for secrets. */
export const hash = (text: string): readonly [number, number, number, number] => {
  let a = 1779033703
  let b = 3144134277
  let c = 1013904242
  let d = 2773480762
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    a = b ^ Math.imul(a ^ code, 597399067)
    b = c ^ Math.imul(b ^ code, 2869860233)
    c = d ^ Math.imul(c ^ code, 951274213)
    d = a ^ Math.imul(d ^ code, 2716044179)
  }
  a = Math.imul(c ^ (a >>> 18), 597399067)
  b = Math.imul(d ^ (b >>> 22), 2869860233)
  c = Math.imul(a ^ (c >>> 17), 951274213)
  d = Math.imul(b ^ (d >>> 19), 2716044179)
  a ^= b ^ c ^ d
  return [a >>> 0, (b ^ a) >>> 0, (c ^ a) >>> 0, (d ^ a) >>> 0]
}

/** A sequence of pseudo-random numbers (sfc32). Sequences of different keys are independent. */
export class Chance {
  #a: number
  #b: number
  #c: number
  #d: number

  constructor(key: string) {
    const [a, b, c, d] = hash(key)
    this.#a = a
    this.#b = b
    this.#c = c
    this.#d = d
    for (let turn = 0; turn < 15; turn++) this.next()
  }

  /** Returns a number from 0 to below 1. */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#d) | 0
    this.#d = (this.#d + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return (sum >>> 0) / 4294967296
  }

  /** Returns a number from `low` to below `high`. */
  between(low: number, high: number): number {
    return low + (high - low) * this.next()
  }

  /** Returns a whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return Math.floor(low + (high - low + 1) * this.next())
  }

  /** Returns `true` with this probability. */
  happens(probability: number): boolean {
    return this.next() < probability
  }

  /** Returns an element of a non-empty list. */
  pick<A>(choices: readonly [A, ...ReadonlyArray<A>]): A {
    return choices[Math.floor(this.next() * choices.length)] ?? choices[0]
  }

  /** Returns the elements in random order. */
  shuffled<A>(list: ReadonlyArray<A>): Array<A> {
    const mixed = [...list]
    for (let index = mixed.length - 1; index > 0; index--) {
      const other = this.whole(0, index)
      const kept = mixed[index]!
      mixed[index] = mixed[other]!
      mixed[other] = kept
    }
    return mixed
  }

  /** Returns a normally distributed number with mean 0 and deviation 1. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(tau * this.next())
  }
}
