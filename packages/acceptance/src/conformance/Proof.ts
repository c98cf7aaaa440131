/** Tests that prove statements of the documentation. */

/** A test: the beginning of its name, after the file below `packages`. */
export interface Proof {
  readonly file: string
  readonly name: string
}

/** Makes the proofs of a file below `packages`. */
export const test = (file: string) => (...names: ReadonlyArray<string>): ReadonlyArray<Proof> =>
  names.map((name) => ({ file: `packages/${file}`, name }))
