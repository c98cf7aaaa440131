/** Splits a prompt into words, and searches them. */

/** Splits a text into lower-case words without punctuation. */
export class Words {
  readonly list: ReadonlyArray<string>
  readonly #text: string

  constructor(text: string) {
    const plain = text.toLowerCase().normalize("NFKC").replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim()
    this.list = plain === "" ? [] : plain.split(" ")
    this.#text = ` ${plain} `
  }

  /** Returns how many of these words or phrases occur. */
  count(phrases: ReadonlyArray<string>): number {
    return phrases.filter((phrase) => this.#text.includes(` ${phrase} `)).length
  }

  /** Returns whether any of these words or phrases occurs. */
  has(...phrases: ReadonlyArray<string>): boolean {
    return this.count(phrases) > 0
  }
}
