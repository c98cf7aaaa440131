/** The caller's side of the contract. What breaks it is a bug, so it throws. */

/** The most credits that one lot can hold or one charge can cost. A thousand such lots still add up exactly. */
export const creditsMax = 1_000_000_000_000

/** Whole credits from `min` to `creditsMax`. */
export const credits = (what: string, value: number, min: 0 | 1): void => {
  if (!Number.isInteger(value) || value < min || value > creditsMax) {
    throw new Error(`${what} is ${value}; it must be a whole number from ${min} to ${creditsMax}`)
  }
}

/** A whole number from 1 to `max`, as limits are. */
export const limit = (what: string, value: number, max: number): void => {
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new Error(`${what} is ${value}; it must be a whole number from 1 to ${max}`)
  }
}

/** A name that is kept as text: 1 to `max` characters, none of them a line feed or NUL. */
export const name = (what: string, value: string, max: number): void => {
  if (value.length < 1 || value.length > max || value.includes("\n") || value.includes("\0")) {
    throw new Error(`${what} is ${JSON.stringify(value)}; it must have 1 to ${max} characters and no line feed or NUL`)
  }
}
