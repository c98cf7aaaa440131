/** Checks of arguments. A violation is a bug of the caller, so it throws. */

/** The maximum number of credits of one lot or one charge. The sum of 1,000 such lots is an exact integer. */
export const creditsMax = 1_000_000_000_000

/** Throws unless `value` is a whole number from `min` to `creditsMax`. */
export const credits = (what: string, value: number, min: 0 | 1): void => {
  if (!Number.isInteger(value) || value < min || value > creditsMax) {
    throw new Error(`${what} must be a whole number from ${min} to ${creditsMax}, got ${value}`)
  }
}

/** Throws unless `value` is a whole number from 1 to `max`. */
export const limit = (what: string, value: number, max: number): void => {
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new Error(`${what} must be a whole number from 1 to ${max}, got ${value}`)
  }
}

/** Throws unless `value` has 1 to `max` characters, none of which is a line feed, NUL or a lone surrogate. */
export const name = (what: string, value: string, max: number): void => {
  if (value.length < 1 || value.length > max || /[\n\0]/u.test(value) || !value.isWellFormed()) {
    throw new Error(
      `${what} must have 1 to ${max} characters and no line feed, NUL or lone surrogate, got ${JSON.stringify(value)}`
    )
  }
}

/** Throws unless the reference and the credits of a part of a charge are valid. */
export const part = ({ credits: value, reference }: { readonly reference: string; readonly credits: number }): void => {
  name("The reference of a part", reference, 128)
  credits("A part", value, 1)
}
