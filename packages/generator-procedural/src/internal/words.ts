/** A prompt as words that can be looked for. */

/** The words of a text, lower case, without punctuation. */
export class Words {
  readonly list: ReadonlyArray<string>
  readonly #text: string

  constructor(text: string) {
    const plain = text.toLowerCase().normalize("NFKC").replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim()
    this.list = plain === "" ? [] : plain.split(" ")
    this.#text = ` ${plain} `
  }

  /** How many of these words or phrases occur. */
  count(phrases: ReadonlyArray<string>): number {
    return phrases.filter((phrase) => this.#text.includes(` ${phrase} `)).length
  }

  /** Whether any of these words or phrases occurs. */
  has(...phrases: ReadonlyArray<string>): boolean {
    return this.count(phrases) > 0
  }
}
