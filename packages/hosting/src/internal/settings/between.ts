/** Whole numbers as settings. */
import { Schema } from "effect"

/** Decodes the text of a whole number from `minimum` to `maximum`. */
export const between = (minimum: number, maximum: number) =>
  Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum, maximum }))
